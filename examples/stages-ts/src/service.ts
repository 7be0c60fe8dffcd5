// The stage as gnomon.v1.StageService.

import { fileURLToPath } from 'node:url'

import * as grpc from '@grpc/grpc-js'
import * as protoLoader from '@grpc/proto-loader'

import * as catalogue from './catalogue.js'
import { type Struct, toJson, toStruct } from './struct.js'

/** The stage's name, as gnomon's file of stages declares it. */
export const STAGE = 'catalogue'

/** gnomon.v1.ShouldProcessRequest and ProcessRequest, as far as this stage reads them. */
export interface Request {
  stage?: string
  entity?: { content?: Struct | null } | null
}

/** gnomon.v1.ShouldProcessResponse: one of them. */
export interface ShouldProcessResponse {
  shouldProcess?: boolean
}

/** gnomon.v1.ProcessResponse, as far as this stage writes it. */
export interface ProcessResponse {
  mergePatch?: Struct
  state?: { type_url: string; value: Uint8Array }
}

const api = fileURLToPath(new URL('../../../api/', import.meta.url))

/** gnomon.v1.StageService, from gnomon's own protos. */
export function service(): grpc.ServiceClientConstructor {
  const loaded = grpc.loadPackageDefinition(
    protoLoader.loadSync('gnomon/v1/stage_service.proto', {
      includeDirs: [api, `${api}third_party`],
      enums: String,
      longs: String,
      oneofs: true,
    }),
  )
  const v1 = (loaded['gnomon'] as grpc.GrpcObject)['v1'] as grpc.GrpcObject
  return v1['StageService'] as grpc.ServiceClientConstructor
}

/** Serves the stage at host:port (port 0: any) and tells where that is. */
export async function serve(address: string): Promise<{ server: grpc.Server; port: number }> {
  const server = new grpc.Server()
  server.addService(service().service, {
    shouldProcess: unary<Request, ShouldProcessResponse>((r) => ({
      shouldProcess: catalogue.shouldProcess(toJson(r.entity?.content)),
    })),
    process: unary<Request, ProcessResponse>((r) => {
      const { patch, state } = catalogue.process(toJson(r.entity?.content))
      return {
        // What is absent stays as it is; so no timer is set, and none is kept.
        ...(patch !== undefined && { mergePatch: toStruct(patch) }),
        ...(state !== undefined && { state: stringValue(state) }),
      }
    }),
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (err, bound) =>
      err === null ? resolve(bound) : reject(err),
    )
  })
  return { server, port }
}

/** A method that answers at once. Whatever it throws is an error, and gnomon asks again. */
function unary<Q extends Request, A>(answer: (request: Q) => A): grpc.handleUnaryCall<Q, A> {
  return (call, callback) => {
    if (call.request.stage !== STAGE) {
      callback({ code: grpc.status.NOT_FOUND, details: `there is no stage "${call.request.stage}" here, but "${STAGE}"` })
      return
    }
    try {
      callback(null, answer(call.request))
    } catch (err) {
      callback({ code: grpc.status.INTERNAL, details: String(err) })
    }
  }
}

/** A google.protobuf.StringValue of fewer than 128 bytes, in a google.protobuf.Any. */
function stringValue(text: string): { type_url: string; value: Uint8Array } {
  const bytes = Buffer.from(text)
  return {
    type_url: 'type.googleapis.com/google.protobuf.StringValue',
    // Field 1, whose bytes follow their number.
    value: Buffer.concat([Buffer.from([0x0a, bytes.length]), bytes]),
  }
}
