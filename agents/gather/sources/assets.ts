import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { GatherHost } from '../gather-host.ts';
import type { Source, SourceGroup } from '../source.ts';
import { file, formatOf, isPlain } from './file.ts';
import { made } from './made.ts';
import { below } from './walk.ts';

const FOLDER = 'rendered-assets';
/** Formats known to be text. */
const TEXT =
  /\.(ya?ml|json|txt|conf|cfg|toml|service|mount|socket|target|timer|patch|log|md|done)$/;
const MARKER = /^\.[\w-]+\.done$/;
/** Folders of keys and identities, and those collected elsewhere in the bundle. */
const SECRET_FOLDER = /(^|\/)(tls|auth|kubelet-identity|\.kube|\.ssh|\.docker|gather|secrets?)\//;
/** In any format: whole rendered sets, credentials, complete host configs. */
const SECRET_NAME =
  /(^|\/)(rendered\.json|auth\.json|\.?docker[^/]*|[^/]*(secret|kubeconfig|token|passw|credential|encryption|htpasswd|private|\.key|\.ign|ignition)[^/]*)$/i;
const MAX_BYTES = 4 << 20;

/** Rendered files of the live host that are text and not credentials. */
export const assets: SourceGroup = {
  name: 'assets',
  deadlineMs: 10_000,
  async list(host) {
    if (host.stage !== 'live') return [];
    const found = await Promise.all(
      (await below(host.paths.assets)).map(async ({ name, kind }) => ({
        name,
        isTaken: kind === 'file' && isTaken(name) && (await fits(host, name)),
      })),
    );
    const left = found.filter(({ isTaken }) => !isTaken).map(({ name }) => name);
    return [
      ...found
        .filter(({ isTaken }) => isTaken)
        .map(
          ({ name }): Source =>
            file(join(FOLDER, name), join(host.paths.assets, name), {
              format: formatOf(name),
              phase: 'bulk',
              limitBytes: MAX_BYTES * 2,
            }),
        ),
      ...(left.length === 0 ? [] : [made(`${FOLDER}/left-out.txt`, async () => leftOutText(left))]),
    ];
  },
};

/** Whether a file goes into the bundle, by its path in the live host's working folder. */
export function isTaken(name: string): boolean {
  if (!isPlain(name) || SECRET_FOLDER.test(name) || SECRET_NAME.test(name)) return false;
  return TEXT.test(name) || MARKER.test(name);
}

async function fits({ paths }: GatherHost, name: string): Promise<boolean> {
  const status = await lstat(join(paths.assets, name)).catch(() => undefined);
  return status !== undefined && status.size <= MAX_BYTES;
}

const leftOutText = (names: readonly string[]) =>
  [
    'Not in the bundle, because they contain or may contain credentials, or are not text:',
    ...names.map((name) => JSON.stringify(name)),
    '',
  ].join('\n');
