/** In milliseconds. */
export const minutes = (count: number): number => count * 60_000;
/** In milliseconds. */
export const seconds = (count: number): number => count * 1000;
