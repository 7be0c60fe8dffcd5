// google.protobuf.Struct, as @grpc/proto-loader has it, to JSON and back.

export type Json = null | boolean | number | string | Json[] | JsonObject
export interface JsonObject {
  [name: string]: Json
}

/** google.protobuf.Struct; a stage may be given one that is absent. */
export interface Struct {
  fields?: { [name: string]: Value } | null
}

/** google.protobuf.Value: one of its fields is set, and kind names it. */
export interface Value {
  kind?: string
  nullValue?: 'NULL_VALUE' | number
  numberValue?: number
  stringValue?: string
  boolValue?: boolean
  structValue?: Struct
  listValue?: { values?: Value[] | null }
}

export function toJson(struct: Struct | null | undefined): JsonObject {
  // Without a prototype: names come from outside.
  const object = Object.create(null) as JsonObject
  for (const [name, value] of Object.entries(struct?.fields ?? {})) {
    object[name] = valueToJson(value)
  }
  return object
}

function valueToJson(value: Value): Json {
  switch (value.kind) {
    case 'numberValue':
      return value.numberValue ?? 0
    case 'stringValue':
      return value.stringValue ?? ''
    case 'boolValue':
      return value.boolValue ?? false
    case 'structValue':
      return toJson(value.structValue)
    case 'listValue':
      return (value.listValue?.values ?? []).map(valueToJson)
    default:
      return null
  }
}

export function toStruct(object: JsonObject): Struct {
  const fields: { [name: string]: Value } = {}
  for (const [name, json] of Object.entries(object)) {
    fields[name] = jsonToValue(json)
  }
  return { fields }
}

function jsonToValue(json: Json): Value {
  if (json === null) {
    return { nullValue: 'NULL_VALUE' }
  }
  if (Array.isArray(json)) {
    return { listValue: { values: json.map(jsonToValue) } }
  }
  switch (typeof json) {
    case 'number':
      return { numberValue: json }
    case 'string':
      return { stringValue: json }
    case 'boolean':
      return { boolValue: json }
    default:
      return { structValue: toStruct(json) }
  }
}
