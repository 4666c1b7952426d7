import { dirname, join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { redact } from '../../lib/base/log/redact.ts';
import { filesNamedIn } from '../../lib/config/site-config/read.ts';
import { SITE_CONFIG } from '../../lib/config/site-config/site-config.ts';
import { readConfigText } from '../create/read-install-config.ts';
import { readUserManifests } from '../create/user-manifests.ts';
import { placeholdersIn } from '../site/template.ts';
import type { SiteSpec } from './site.ts';
import { templateFiles } from './template-files.ts';

/** The template of many sites, as a ConfigMap has it. */
export interface FleetTemplate {
  readonly dir: string;
  /** Its name, and that of its key in the ConfigMap. */
  readonly file: string;
  readonly text: string;
  readonly placeholders: readonly string[];
  /** Paths of files beside it that are no manifests. */
  readonly skipped: readonly string[];
  /** Of the ConfigMap. */
  readonly data: Readonly<Record<string, string>>;
}

/** A ConfigMap may have 1 MiB, with all that is around it. */
const MOST_BYTES = 900_000;

/** @throws Failure (usage) with every fault of the folder */
export async function readTemplate(
  dir: string,
  { action, secretValues }: { action: SiteSpec['action']; secretValues: readonly string[] },
  signal: AbortSignal,
): Promise<FleetTemplate> {
  const { config: file, folders } = templateFiles(action);
  const text = await readConfigText(join(dir, file), 'its folder with --template-dir');
  const { manifests, skipped, faults } = await readUserManifests(dir, signal, folders);
  const data: Record<string, string> = { [file]: text };
  const found = [...faults, ...textFaults(file, text, secretValues)];
  for (const { path, contents } of manifests) {
    const folder = dirname(path);
    data[path.replaceAll('/', '.')] = contents.toString('utf8');
    if (folder.includes('/')) {
      found.push(`${path}: expected no folders in ${folders.join(' and ')}: a ConfigMap has none`);
    }
    found.push(...secretFaults(path, contents.toString('utf8')));
  }
  const bytes = Object.values(data).reduce((sum, each) => sum + Buffer.byteLength(each), 0);
  if (bytes > MOST_BYTES) {
    found.push(`expected at most ${MOST_BYTES} bytes, which a ConfigMap can have, found ${bytes}`);
  }
  if (found.length > 0) {
    throw new Failure('usage', `the template in ${dir} cannot be used:\n${found.join('\n')}`);
  }
  return { dir, file, text, placeholders: placeholdersIn(text), skipped, data };
}

/** The files that it names are keys of Secrets. */
const textFaults = (file: string, text: string, secretValues: readonly string[]): string[] => [
  ...secretFaults(file, text),
  ...(file === SITE_CONFIG ? filesNamedIn(text) : [])
    .filter((path) => !secretValues.includes(path))
    .map(
      (path) =>
        `${file}: names the file ${path}: put it into a Secret under this key, and name it in --secret-values`,
    ),
];

/** A line with a placeholder may be that of a secret, which is elsewhere. */
const withoutPlaceholders = (text: string) => text.replaceAll(/^.*\$\{[A-Za-z_]\w*\}.*$/gm, '');

const secretFaults = (file: string, text: string): string[] =>
  redact(withoutPlaceholders(text)) === withoutPlaceholders(text)
    ? []
    : [
        `${file}: expected nothing secret, which a ConfigMap does not keep. Write a placeholder, and name it in --secret-values`,
      ];

/** The placeholders that neither a column nor a Secret fills. */
export const unfilled = (
  placeholders: readonly string[],
  columns: readonly string[],
  secretValues: readonly string[],
): string[] =>
  placeholders.filter((name) => !columns.includes(name) && !secretValues.includes(name));
