/** What belongs to the host itself: it gives way to nobody. */
export const HOST = '';

class Share {
  readonly known = new Set<string>();
  readonly texts: string[] = [];
  characters = 0;
}

/**
 * Distinct texts of the host and of others on it, together of a limited length. Where there is no room, the one of the
 * others that has the most gives up its last text: nobody's flood costs another's.
 */
export class Shares {
  readonly #maxCharacters: number;
  readonly #shares = new Map([[HOST, new Share()]]);
  readonly #cut = new Set<string>();
  #characters = 0;

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  /** In the order in which they had their first text; the host first. */
  get owners(): string[] {
    return [...this.#shares.keys()];
  }

  /** Whose texts were left out. */
  get cut(): ReadonlySet<string> {
    return this.#cut;
  }

  of(owner: string): readonly string[] {
    return this.#shares.get(owner)?.texts ?? [];
  }

  add(owner: string, text: string): void {
    const share = this.#shares.get(owner) ?? new Share();
    if (share.known.has(text)) return;
    this.#shares.set(owner, share);
    // A substring would keep the whole text in memory.
    const copy = Buffer.from(text, 'utf8').toString('utf8');
    share.known.add(copy);
    share.texts.push(copy);
    this.#resize(share, text.length);
    while (this.#characters > this.#maxCharacters) this.#giveUpOne();
  }

  #giveUpOne(): void {
    const [owner, share] = this.#largest();
    const last = share.texts.pop() ?? '';
    share.known.delete(last);
    this.#resize(share, -last.length);
    this.#cut.add(owner);
  }

  /** Of the others; the host's own, if they have nothing. */
  #largest(): [owner: string, share: Share] {
    const [host, ...others] = this.#shares;
    const most = others.reduce<[string, Share] | undefined>(
      (most, one) => (one[1].characters > (most?.[1].characters ?? 0) ? one : most),
      undefined,
    );
    return most ?? host ?? [HOST, new Share()];
  }

  #resize(share: Share, characters: number): void {
    share.characters += characters;
    this.#characters += characters;
  }
}

/** How many of its texts each may have, for all to have at most `room`: equally many, or all where there are fewer. */
export function fairNumber(numbers: readonly number[], room: number): number {
  let left = Math.max(0, room);
  const ascending = numbers.toSorted((a, b) => a - b);
  for (const [index, number] of ascending.entries()) {
    const each = Math.floor(left / (ascending.length - index));
    if (number > each) return each;
    left -= number;
  }
  return Number.POSITIVE_INFINITY;
}
