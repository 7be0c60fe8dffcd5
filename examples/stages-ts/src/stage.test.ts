import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import * as grpc from '@grpc/grpc-js'

import * as catalogue from './catalogue.js'
import { type ProcessResponse, type Request, type ShouldProcessResponse, serve, service, STAGE } from './service.js'
import { type Json, type JsonObject, toJson, toStruct } from './struct.js'

test('offers of version 1 are evolved, those of version 2 are left alone', () => {
  const old: JsonObject = { category: 'flat', title: 'x' }
  assert.equal(catalogue.shouldProcess(old), true)
  assert.deepEqual(catalogue.process(old), { patch: { catalogueVersion: 2, category: 'apartment' }, state: '1' })
  assert.deepEqual(catalogue.process({ category: 'garage' }), { patch: { catalogueVersion: 2 }, state: '1' })
  const now: JsonObject = { category: 'flat', catalogueVersion: 2 }
  assert.equal(catalogue.shouldProcess(now), false)
  assert.deepEqual(catalogue.process(now), {})
})

/** As JSON has it, without what the wire adds. */
const plain = (json: Json): Json => JSON.parse(JSON.stringify(json)) as Json

let served: Awaited<ReturnType<typeof serve>>
let client: grpc.Client
before(async () => {
  served = await serve('127.0.0.1:0')
  client = new (service())(`127.0.0.1:${served.port}`, grpc.credentials.createInsecure())
})
after(() => {
  client.close()
  served.server.forceShutdown()
})

function call<A>(method: 'ShouldProcess' | 'Process', request: Request): Promise<A> {
  const { path, requestSerialize, responseDeserialize } = service().service[method]!
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (err, answer) =>
      err === null ? resolve(answer as A) : reject(err),
    )
  })
}

test('it is served', async () => {
  const content: JsonObject = {
    category: 'room', list: [1, 'a', null, true, { b: [] }], nothing: null, no: false, zero: 0, empty: '', object: {},
  }
  const request: Request = { stage: STAGE, entity: { content: toStruct(content) } }
  const { requestSerialize, requestDeserialize } = service().service['Process']!
  const read = requestDeserialize(requestSerialize(request)) as Request
  assert.deepEqual(plain(toJson(read.entity?.content)), content)
  const asked = await call<ShouldProcessResponse>('ShouldProcess', request)
  assert.equal(asked.shouldProcess, true)
  const done = await call<ProcessResponse>('Process', request)
  assert.deepEqual(plain(toJson(done.mergePatch)), { catalogueVersion: 2, category: 'apartment/room' })
  assert.equal(done.state?.type_url, 'type.googleapis.com/google.protobuf.StringValue')
})

test('an entity without content and a state that is absent are no error', async () => {
  assert.equal((await call<ShouldProcessResponse>('ShouldProcess', { stage: STAGE })).shouldProcess, true)
})

test('a stage of another name is not here', async () => {
  await assert.rejects(call('Process', { stage: 'other' }), { code: grpc.status.NOT_FOUND })
})
