interface Waiting {
  readonly name: string;
  readonly requestor: string;
  readonly bytes: number;
}

/**
 * What waits to be judged. Requestors take turns: one who sends thousands of requests delays those of the others by one
 * request each, whatever they cost.
 */
export class RequestQueue<T extends Waiting> {
  /** By requestor and name, the requestor whose turn is next first. */
  readonly #waiting = new Map<string, Map<string, T>>();
  readonly #requestors = new Map<string, string>();
  #bytes = 0;

  /** Of all that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#requestors.size;
  }

  get(name: string): T | undefined {
    return this.#waiting.get(this.#requestors.get(name) ?? '')?.get(name);
  }

  /** Replaces one of that name. */
  add(item: T): void {
    this.delete(item.name);
    const own = this.#waiting.get(item.requestor) ?? new Map<string, T>();
    own.set(item.name, item);
    this.#waiting.set(item.requestor, own);
    this.#requestors.set(item.name, item.requestor);
    this.#bytes += item.bytes;
  }

  delete(name: string): void {
    const item = this.get(name);
    if (item === undefined) return;
    const own = this.#waiting.get(item.requestor);
    own?.delete(name);
    if (own?.size === 0) this.#waiting.delete(item.requestor);
    this.#requestors.delete(name);
    this.#bytes -= item.bytes;
  }

  /** The oldest one of the requestor whose turn it is. */
  take(): T | undefined {
    for (const [requestor, own] of this.#waiting) {
      for (const item of own.values()) {
        this.delete(item.name);
        // Its next turn is after that of all others.
        if (this.#waiting.delete(requestor)) this.#waiting.set(requestor, own);
        return item;
      }
    }
    return undefined;
  }

  names(): string[] {
    return [...this.#requestors.keys()];
  }
}
