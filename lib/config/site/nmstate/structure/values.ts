import { isIP, isIPv6 } from 'node:net';
import { z } from 'zod';
import { isMacAddress } from '../hardware.ts';

/** The values of nmstate documents, as nmstate 2.2 reads them (rust/src/lib/deserializer.rs). Messages say what is expected. */

export const value = (expected: string, fits: (value: unknown) => boolean) =>
  z.unknown().refine(fits, { error: expected });

const WORDS_OF_FLAGS = /^(1|0|true|false|yes|no|on|off|y|n)$/i;

export const flag = value('true or false', (given) =>
  typeof given === 'string'
    ? WORDS_OF_FLAGS.test(given)
    : typeof given === 'boolean' || given === 0 || given === 1,
);

/** Where nmstate reads no text. */
export const plainFlag = value(
  'true or false, without quotes',
  (given) => typeof given === 'boolean',
);

const NUMBER = /^(\d+|0x[0-9A-Fa-f]+)$/;

const isWhole = (given: unknown, least: number, most: number) =>
  typeof given === 'number' && Number.isInteger(given) && given >= least && given <= most;

/** A number, also as a text; in hexadecimal where it cannot be negative. */
export const whole = (least: number, most: number) =>
  value(`an integer from ${least} to ${most}`, (given) => {
    const isNumeric = typeof given === 'string' && (least < 0 ? /^-?\d+$/ : NUMBER).test(given);
    return isWhole(isNumeric ? Number(given) : given, least, most);
  });

/** Where nmstate reads no text. */
export const plainWhole = (least: number, most: number) =>
  value(`an integer from ${least} to ${most}, without quotes`, (given) =>
    isWhole(given, least, most),
  );

export const U8 = 255;
export const U16 = 65_535;
export const U32 = 4_294_967_295;
/** Larger numbers are not exact in a configuration file, and none of nmstate's limits is. */
export const U64 = Number.MAX_SAFE_INTEGER;

export const text = value('a text', (given) => typeof given === 'string');

export const ipAddress = value(
  'an IPv4 or IPv6 address',
  (given) => typeof given === 'string' && isIP(given) !== 0 && !given.includes('%'),
);

export const ipv6Address = value(
  'an IPv6 address',
  (given) => typeof given === 'string' && isIPv6(given) && !given.includes('%'),
);

export const macAddress = value('six bytes such as 52:54:00:12:34:56', (given) =>
  isMacAddress(given),
);

export const pciAddress = value(
  'a PCI address such as 0000:07:00.1, in quotes',
  (given) =>
    typeof given === 'string' &&
    /^([0-9A-Fa-f]{1,8}:)?[0-9A-Fa-f]{1,2}:[0-9A-Fa-f]{1,2}\.\d{1,2}$/.test(given),
);

export const words = (...known: readonly string[]) =>
  value(
    `one of ${known.filter((word) => word !== '').join(', ')}`,
    (given) => typeof given === 'string' && known.includes(given),
  );

/** Words that nmstate also knows by their numbers in the kernel: from 0, in this order. */
export const numberedWords = (...known: readonly string[]) =>
  value(`one of ${known.join(', ')}`, (given) => {
    if (typeof given !== 'string' && typeof given !== 'number') return false;
    return known.includes(`${given}`) || (/^\d$/.test(`${given}`) && Number(given) < known.length);
  });

/** A mapping in which nmstate refuses unknown keys. `required` has the keys that it demands. */
export const mapping = (keys: z.ZodRawShape, required: z.ZodRawShape = {}) =>
  z.strictObject(keys, { error: 'a mapping' }).partial().extend(required);

/** A mapping in which nmstate ignores unknown keys. */
export const openMapping = (keys: z.ZodRawShape, required: z.ZodRawShape = {}) =>
  z.looseObject(keys, { error: 'a mapping' }).partial().extend(required);

/** Two names of one key: nmstate refuses a document with both. */
export const onlyOneOf = <Schema extends z.ZodObject>(
  schema: Schema,
  ...aliases: readonly (readonly [string, string])[]
): Schema =>
  schema.superRefine((given: Record<string, unknown>, context) => {
    for (const [name, alias] of aliases) {
      if (given[name] === undefined || given[alias] === undefined) continue;
      context.addIssue({
        code: 'custom',
        path: [alias],
        message: `${name} alone: ${alias} is another name of it`,
      });
    }
  });

export const list = (entry: z.ZodType) => z.array(entry, { error: 'a list' });
