import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { writeFileAtomic } from '../../../lib/host/files.ts';
import { readSite, type Site } from '../../site/read-site.ts';
import { isOneLine } from '../../site/table.ts';
import { filledTemplate, placeholdersIn } from '../../site/template.ts';
import { inTemporary } from '../../site/write-medium.ts';
import type { SiteInputs } from './inputs.ts';

/** Shorter texts are in other words as well. */
const SHORTEST_SECRET = 4;

/**
 * The site of a template with its values, judged as `sno create site-volume` does. Its files are in a folder that only
 * this user can open, as long as that takes.
 *
 * @throws Failure (usage) with every fault, and none of the secrets
 */
export async function renderSite(
  inputs: SiteInputs,
  serial: number | undefined,
  { now, signal }: { readonly now: Date; readonly signal: AbortSignal },
): Promise<Site> {
  const { template, facts, files } = inputs;
  const text = filledText(inputs);
  return hidingSecrets(inputs, () =>
    inTemporary(async (dir) => {
      await placeFiles(dir, files);
      const site = await readSite({ dir, text, name: template.name }, { facts, now, signal });
      if (serial !== undefined) requireSerial(site, serial, template.name);
      return site;
    }),
  );
}

/** The template with the values that it asks for. @throws Failure (usage) */
export const filledText = (inputs: SiteInputs): string =>
  filledTemplate(inputs.template.text, usedValues(inputs));

/** Each 0600. */
export async function placeFiles(
  dir: string,
  files: ReadonlyMap<string, string | Uint8Array>,
): Promise<void> {
  for (const [path, contents] of files) {
    await mkdir(dirname(join(dir, path)), { recursive: true, mode: 0o700 });
    await writeFileAtomic(join(dir, path), contents, 0o600);
  }
}

/** @throws Failure (usage) of `work`, without secrets that it quotes, and without the name of a folder that nobody finds any more */
export async function hidingSecrets<T>(
  { secrets, template }: Pick<SiteInputs, 'secrets' | 'template'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'usage') throw error;
    const text = describeError(error).replaceAll(TEMPORARY, `the folder of ${template.name}`);
    throw new Failure('usage', withoutSecrets(text, secrets), {
      code: error.code === 'usage' ? 'site-config-refused' : error.code,
    });
  }
}

/** As inTemporary names it. */
const TEMPORARY = /\S*\/\.sno-site-[A-Za-z0-9]{6}/g;

/** The values that the template asks for. @throws Failure (usage) */
function usedValues({ template, values, ambiguous }: SiteInputs): Record<string, string> {
  const used: Record<string, string> = {};
  const faults: string[] = [];
  for (const name of placeholdersIn(template.text)) {
    const value = values.get(name);
    if (value === undefined) faults.push(`\${${name}} has no value`);
    else if (ambiguous.includes(name)) faults.push(`\${${name}} has more than one value`);
    else if (!isOneLine(value)) faults.push(`the value of \${${name}} is not one line of text`);
    else used[name] = value;
  }
  if (faults.length === 0) return used;
  throw new Failure('usage', `${template.name} cannot be filled in: ${faults.join(', ')}`, {
    code: 'site-config-refused',
    expected: 'each once in spec.values, or as a key of one of spec.secretRefs',
  });
}

function requireSerial({ config }: Site, serial: number, name: string): void {
  if (config.serial === undefined || config.serial === serial) return;
  throw new Failure('usage', `${name} has a serial of its own`, {
    expected: `that of the Site, ${serial}, or none`,
    found: `${config.serial}`,
    fix: 'Remove serial from the template.',
  });
}

/** A fault may quote what it has found. */
export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, '(secret)'), text);
