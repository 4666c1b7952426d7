/**
 * Looks through a window of a stream from an offset and returns the offset from
 * which it has to look again when more bytes have come: what lies before it is
 * never shown again. `final`: no more bytes come, so nothing is left for later.
 */
export type Finder = (window: Buffer, from: number, final: boolean) => number;

/** Takes bytes in pieces; `end` takes the last one. */
export interface ByteSink {
  push(bytes: Buffer): void;
  end(bytes: Buffer): void;
}

/**
 * A finder that calls `visit` at every place of a marker. A visit that needs bytes
 * after the window answers 'more' and is called again at the same place.
 */
export function markerFinder(
  marker: Buffer,
  visit: (window: Buffer, at: number) => 'more' | 'seen',
): Finder {
  return (window, from, final) => {
    for (
      let at = window.indexOf(marker, from);
      at !== -1;
      at = window.indexOf(marker, at + marker.length)
    ) {
      if (visit(window, at) === 'more' && !final) return at;
    }
    return Math.max(from, window.length - marker.length + 1);
  };
}
