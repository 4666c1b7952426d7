/** What a thread is started with. */
export interface ThreadData {
  /** See `createRedactor`. */
  readonly key: Uint8Array;
  readonly known: readonly string[];
}

/** To the thread: streams side by side, each with a number of its own. */
export type RedactionRequest =
  | { readonly stream: number; readonly does: 'push'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly stream: number; readonly does: 'end' | 'cancel' };

/** From the thread, for each request, in their order. */
export type RedactionAnswer =
  | { readonly parts: readonly Uint8Array<ArrayBuffer>[] }
  | { readonly failure: string };
