package compose

import (
	"context"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// File is the name of the file, at the root of the repository.
const File = "docker-compose.yml"

// Load reads the file of a repository as docker compose would, with an environment.
func Load(ctx context.Context, root string, environment types.Mapping) (*types.Project, error) {
	content, err := os.ReadFile(filepath.Join(root, File))
	if err != nil {
		return nil, err
	}
	return parse(ctx, root, content, environment)
}

// parse is Load for a file with another content.
func parse(ctx context.Context, root string, content []byte, environment types.Mapping) (*types.Project, error) {
	directory, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	return loader.LoadWithContext(ctx, types.ConfigDetails{
		WorkingDir:  directory,
		ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(directory, File), Content: content}},
		Environment: environment.Clone(), // the loader adds to it
	}, func(o *loader.Options) { o.SetProjectName("gnomon", false) })
}
