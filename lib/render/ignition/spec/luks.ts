import { z } from 'zod';
import { parseJson } from '../../../base/json.ts';
import { bytes, flag, isGiven, named, number, options, path, text, texts, web } from './values.ts';

const LONGEST_LABEL = 47;

const json = z
  .string()
  .refine((given) => given === '' || parseJson(given) !== undefined, 'is not JSON')
  .optional();

const custom = z
  .strictObject({ pin: text, config: text, needsNetwork: flag })
  .refine(
    (given) =>
      !Object.values(given).some(isGiven) ||
      (/^(?:tpm2|tang|sss)$/.test(given.pin ?? '') && isGiven(given.config)),
    'expected a pin, which is tpm2, tang or sss, and its config',
  );

const clevisOf = (minor: number) =>
  z
    .strictObject({
      ...{ tpm2: flag, threshold: number, custom: custom.optional() },
      tang: named(
        z.strictObject({
          ...{ url: web, thumbprint: z.string().min(1) },
          ...(minor >= 4 ? { advertisement: json } : {}),
        }),
        'url',
      ).optional(),
    })
    .refine(({ custom, ...others }) => !custom?.pin || !Object.values(others).some(isGiven), {
      error: 'excludes tpm2, tang and threshold',
      path: ['custom'],
    });

/** Encrypted devices, from spec 3.2.0 on. */
export function luksOf(minor: number, resource: z.ZodType<{ source?: string | undefined }>) {
  const luks = z.strictObject({
    ...{ name: z.string().regex(/^[^/]*$/, 'has a slash'), device: path, uuid: text },
    label: z
      .string()
      .refine(
        (label) => bytes(label) <= LONGEST_LABEL,
        `is longer than ${LONGEST_LABEL} characters`,
      )
      .optional(),
    ...{ options, wipeVolume: flag, keyFile: resource.optional() },
    clevis: clevisOf(minor).optional(),
    ...(minor >= 4 ? { discard: flag, openOptions: texts } : {}),
  });
  if (minor < 5) return luks;
  return luks
    .extend({ cex: z.strictObject({ enabled: flag }).optional() })
    .refine(
      ({ cex, clevis, keyFile }) =>
        cex?.enabled !== true ||
        !(isGiven(keyFile?.source) || Object.values(clevis ?? {}).some(isGiven)),
      { error: 'excludes clevis and keyFile', path: ['cex'] },
    );
}
