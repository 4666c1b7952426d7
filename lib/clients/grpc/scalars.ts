import { z } from 'zod';

/** A 64-bit integer that stays below 2^53: revisions, sizes. Arrives as decimal text. */
export const int64 = z.string().transform(Number).pipe(z.number().int());

/** A 64-bit identifier, kept as decimal text because it uses all its bits. */
export const id64 = z.string();

/** Nanoseconds since 1970 on the wire, milliseconds here. */
export const nanoseconds = z.string().transform((text) => Number(BigInt(text) / 1_000_000n));
