import type { Descriptor } from './client.ts';

const FIELD = /^(?:(repeated) )?(?:map<(\w+), (\w+)>|([\w.]+)) (\w+) = (\d+)$/;

/** A message by its fields, written as in a .proto file: `string name = 1; repeated Lease leases = 2`. */
export const protoMessage = (fields = '') => ({
  fields: Object.fromEntries(fields.split(/;\s*/).filter(Boolean).map(fieldOf)),
});

function fieldOf(text: string) {
  const [, rule, keyType, valueType, type = valueType, name, id] = FIELD.exec(text.trim()) ?? [];
  if (type === undefined || name === undefined) throw new Error(`no field of a message: ${text}`);
  const optional = { ...(rule && { rule }), ...(keyType && { keyType }) };
  return [name, { ...optional, type, id: Number(id) }] as const;
}

/** The messages and services of a package, such as `runtime.v1`. */
export const protoPackage = (name: string, nested: NonNullable<Descriptor['nested']>): Descriptor =>
  name
    .split('.')
    .reduceRight<Descriptor>((inner, part) => ({ nested: { [part]: inner } }), { nested });

/**
 * One method of a service in a descriptor. `streams` names the sides that send more
 * than one message.
 */
export function rpcMethod(
  requestType: string,
  responseType: string,
  streams: { requestStream?: true; responseStream?: true } = {},
) {
  return { requestType, responseType, comment: '', ...streams };
}
