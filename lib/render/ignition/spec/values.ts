import { z } from 'zod';
import { isRecord } from '../../../base/json.ts';
import { isCleanPath } from '../config.ts';
import { isHostUrl } from './url.ts';

export const flag = z.boolean().optional();
export const number = z.int().optional();
export const text = z.string().optional();
/** Options of a program, which may be repeated. */
export const options = z.array(z.string()).optional();

export const path = z
  .string()
  .refine((given) => given === '/' || isCleanPath(given), 'is not a clean absolute path');
export const web = z
  .string()
  .refine((url) => /^https?:/i.test(url) && isHostUrl(url), 'is not a URL of http or https');

/** Texts of which a second one that is the same is an error. */
export const texts = z.array(z.string()).refine(isOnce, 'has the same text twice').optional();

/** Entries that Ignition merges by what names them, so that a second one of a name is an error. */
export const named = <Item extends z.ZodType>(item: Item, ...keys: readonly string[]) =>
  keys.reduce(
    (list, key) =>
      list.refine((entries) => isOnce(entries.map((entry) => isRecord(entry) && entry[key])), {
        error: `has the same ${key} twice`,
      }),
    z.array(item),
  );

/** Nothing, and the number 0 of a partition, stand for one that Ignition chooses. */
export function isOnce(names: readonly unknown[]): boolean {
  const given = names.filter((name) => name !== undefined && name !== false && name !== 0);
  return new Set(given).size === given.length;
}

/** As Go's types see it: an empty text or list is none. */
export const isGiven = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : Boolean(value);

/** As Go counts a text. */
export const bytes = (given = ''): number => Buffer.byteLength(given);
