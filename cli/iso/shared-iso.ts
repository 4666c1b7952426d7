import { Failure } from '../../lib/base/errors/failure.ts';
import { sha256 } from '../../lib/host/files.ts';
import { requireRegularFile } from '../../lib/host/given-file.ts';
import {
  maxDescriptionBytes,
  type PayloadDescription,
  parsePayload,
  payloadFile,
} from '../../lib/payload/payload.ts';
import { storedFiles } from '../../lib/payload/verify.ts';
import { type LiveIso, readLiveIso } from './coreos-installer.ts';
import { filesOnIso, type IsoExtent, textOnIso } from './iso-files.ts';
import {
  DESCRIPTION_NAME,
  MAX_DESCRIPTION_BYTES,
  type MediumDescription,
  parseDescription,
} from './medium-description.ts';

/** An ISO without a config that has the live system, the executable and perhaps a payload. */
export interface SharedIso {
  readonly liveIso: LiveIso;
  readonly medium: MediumDescription;
  /** Every file that it describes, with the digest that is expected, by its path on the ISO. */
  readonly files: ReadonlyMap<string, IsoExtent & { readonly sha256: string }>;
}

/** The places of the additions on the ISO. */
export interface Layout {
  readonly folder: string;
  readonly executable: string;
  readonly payload: string;
}

/**
 * Reads what a shared ISO says of itself, and compares it with what is there, without reading the large files: their
 * digests are for `sno verify shared-iso`, and every host compares them.
 * @throws Failure (usage) for another ISO, one with a config, and one that is cut off or does not have what it describes
 */
export async function readSharedIso(
  iso: string,
  layout: Layout,
  signal: AbortSignal,
): Promise<SharedIso> {
  await requireRegularFile(iso, 'The shared ISO');
  // Of one that was cut off, coreos-installer says that it is incomplete.
  const liveIso = await readLiveIso(iso, signal);
  const extents = await filesOnIso(iso, layout.folder, signal);
  const description = extents.get(`${layout.folder}/${DESCRIPTION_NAME}`);
  if (description === undefined) {
    throw new Failure('usage', `${iso} is not a shared ISO; nothing was written`, {
      expected: `${layout.folder}/${DESCRIPTION_NAME} on it`,
      fix: 'Create one of this live ISO: "sno create shared-iso".',
    });
  }
  const medium = parseDescription(await textOnIso(iso, description, MAX_DESCRIPTION_BYTES), iso);
  const expected = new Map<string, Expected>([
    [layout.executable, { sha256: medium.executableSha256 }],
  ]);
  for (const [path, file] of await payloadOn(iso, medium, layout, extents))
    expected.set(path, file);
  return { liveIso, medium, files: described(iso, expected, extents) };
}

interface Expected {
  readonly sha256: string;
  readonly size?: number;
}

/** The files of the payload by their paths on the ISO; none if it has no payload. */
async function payloadOn(
  iso: string,
  { payloadSha256, architecture }: MediumDescription,
  layout: Layout,
  extents: ReadonlyMap<string, IsoExtent>,
): Promise<Map<string, Expected>> {
  if (payloadSha256 === undefined) return new Map();
  const at = (path: string) => `${layout.payload}/${path}`;
  const extent = extents.get(at(payloadFile));
  if (extent === undefined) throw damaged(iso, [`${at(payloadFile)} is not there`]);
  const text = await textOnIso(iso, extent, maxDescriptionBytes);
  const found = sha256(text);
  if (found !== payloadSha256) {
    throw damaged(iso, [`${at(payloadFile)}: expected SHA-256 ${payloadSha256}, found ${found}`]);
  }
  const payload: PayloadDescription = parsePayload(text, `${iso}${at(payloadFile)}`);
  if (payload.architecture !== architecture) {
    throw damaged(iso, [`executable for ${architecture}, payload for ${payload.architecture}`]);
  }
  return new Map([
    [at(payloadFile), { sha256: payloadSha256 }],
    ...storedFiles(payload).map(({ path, size, sha256 }): [string, Expected] => [
      at(path),
      { size, sha256 },
    ]),
  ]);
}

function described(
  iso: string,
  expected: ReadonlyMap<string, Expected>,
  extents: ReadonlyMap<string, IsoExtent>,
): SharedIso['files'] {
  const files = new Map<string, IsoExtent & { sha256: string }>();
  const faults: string[] = [];
  for (const [path, { sha256, size }] of expected) {
    const extent = extents.get(path);
    if (extent === undefined) faults.push(`${path} is not there`);
    else if (size !== undefined && extent.size !== size) {
      faults.push(`${path}: expected ${size} bytes, found ${extent.size}`);
    } else files.set(path, { ...extent, sha256 });
  }
  if (faults.length > 0) throw damaged(iso, faults);
  return files;
}

/** `faults`: a sentence each. */
export function damaged(iso: string, faults: readonly string[]): Failure {
  return new Failure(
    'usage',
    [`${iso} is damaged; nothing was written`, ...faults.map((fault) => `  ${fault}`)].join('\n'),
    { fix: 'Copy it again, or create it again with "sno create shared-iso".' },
  );
}
