// Package isolation has actions performed in a process of its own, beside the worker's.
//
// What a performer does to its process then does not reach the worker, whose workflow
// tasks, heartbeats and timers are what keeps all other actions on time (F11):
//
//   - One that loops takes the processor from the worker only where nothing else wants
//     it: the performers' process is more modest ([Niceness]).
//   - One that brings its process down, by a fatal error of the runtime or by all the
//     memory there is, takes only what is performed meanwhile with it: those attempts
//     count as interrupted (M-38), and the process is started again. The kernel picks it
//     before the worker when memory runs out.
//
// The process is the same program with the same arguments, told by [Variable] what it
// is for: whoever wants isolation calls [Asked] before it does anything else, and
// [Serve] if so. It has one connection, by a pair of sockets that it inherits, and ends
// with its worker, however that ends. The price is that connection: some tenths of a
// millisecond for each attempt.
package isolation
