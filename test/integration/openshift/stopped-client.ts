import { isDeepStrictEqual } from 'node:util';
import type { CertificateAccess } from '../../../lab/servers/control-plane.ts';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import { KubeClient } from '../../../lib/clients/kube/client.ts';
import type { Call } from '../../../lib/clients/kube/transport.ts';

/** Is stopped after the first request that changes something, like an agent that is killed. A repeated one changes nothing. */
export class StoppedClient extends KubeClient {
  readonly stopped = new Error('stopped by the test');
  readonly #made: Call[];
  #isStopped = false;

  /** `made`: every request that has changed something, of all clients that share it. */
  constructor(access: CertificateAccess, made: Call[]) {
    super(access);
    this.#made = made;
  }

  override async json(call: Call, limits: Limits): Promise<unknown> {
    if (this.#isStopped) throw this.stopped;
    const answer = await super.json(call, limits);
    const isRepeated = this.#made.some((each) => isDeepStrictEqual(each, call));
    if (call.method === 'GET' || isRepeated) return answer;
    this.#made.push(call);
    this.#isStopped = true;
    throw this.stopped;
  }
}
