import type { KubeClient } from '../../../lib/clients/kube/client.ts';

/** A client whose process is killed, as it were, before the change number `after` is sent. */
export function killedAfter(client: KubeClient, after: number): KubeClient {
  let sent = 0;
  const json: KubeClient['json'] = async (call, limits) => {
    if (call.method !== 'GET' && sent++ === after) throw new Killed();
    return client.json(call, limits);
  };
  return new Proxy(client, {
    get(target, name) {
      if (name === 'json') return json;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

export class Killed extends Error {}
