import { basename } from 'node:path';
import { describeError } from '../../../lib/base/errors/failure.ts';
import { environmentFiles, units } from '../../../lib/secrets/formats/units.ts';
import { HOST } from '../../../lib/secrets/redact/found-secrets.ts';
import { SecretsIn } from '../../../lib/secrets/redact/secrets-in.ts';
import { contentsOf, openRegularFile } from '../../../lib/secrets/scan/walk.ts';
import { orAborted } from '../collecting/abort.ts';
import type { GatherHost } from '../gather-host.ts';
import { type Failed, filesIn } from './files.ts';
import { CONTAINERS, HOMES, PLACES, PODS, type SecretPlace } from './places.ts';
import { foldersIn, podFiles, podNamed } from './pods.ts';
import { inTurn } from './turns.ts';

/** Ignition configs and MachineConfigs contain a whole host; everything else is small. */
const LARGE = /\.ign$|ignition\.json$|\/(?:currentconfig|desiredconfig)$|-content\.json$/;
const MAX_LARGE_BYTES = 32 << 20;
const MAX_FILE_BYTES = 2 << 20;
const MAX_VALUE_BYTES = 8192;
const MAX_FILES = 5000;
const MAX_TOTAL_BYTES = 128 << 20;
const MAX_SECRETS = 4000;
/** Of a pod or a user. */
const MAX_BYTES_OF_ONE = 16 << 20;
/** Of these, as many are named as have lost some of their secrets. */
const MAX_OWNERS = 5;
/** The first files that cannot be read are reported by name, the others as a number. */
const MAX_NAMED = 50;

/**
 * The values of the secrets that this host holds, to be found wherever they occur, the most likely
 * ones first. Files that cannot be read and limits that are reached are passed to `failed`, each
 * once. When `signal` aborts, the result is what was found by then, even if a file system hangs.
 */
export async function hostSecrets(
  { paths }: Pick<GatherHost, 'paths'>,
  signal: AbortSignal,
  failed: Failed = () => undefined,
): Promise<string[]> {
  const reading = new Reading(paths.at(''), signal, failed);
  try {
    await orAborted(reading.all(), signal);
  } catch (error) {
    failed(reading.path, `not all files were searched for secrets: ${describeError(error)}`);
  }
  return reading.end();
}

class Reading {
  readonly #root: string;
  readonly #signal: AbortSignal;
  readonly #failed: Failed;
  readonly #secrets = new SecretsIn(MAX_SECRETS);
  readonly #memory = Buffer.alloc(1 << 16);
  /** Device and inode of files already read: where /home is a link, a file has two paths. */
  readonly #seen = new Set<string>();
  /** Named by units. */
  readonly #environmentFiles = new Set<string>();
  /** Read for each pod and user. */
  readonly #bytesOf = new Map<string, number>();
  #files = 0;
  #bytes = 0;
  #failures = 0;
  #isOver = false;
  /** The current file. */
  path: string;

  constructor(root: string, signal: AbortSignal, failed: Failed) {
    this.#root = root;
    this.#signal = signal;
    this.#failed = failed;
    this.path = root;
  }

  async all(): Promise<void> {
    for (const place of PLACES) await this.#place(place);
    for (const path of this.#environmentFiles) await this.#place({ path });
    for await (const { path, place } of inTurn(await this.#containers())) {
      await this.#file(path, place);
    }
    for (const place of HOMES) await this.#place(place);
  }

  /** What is mounted into each pod, and what is written of containers and volumes. */
  async #containers(): Promise<AsyncIterable<{ path: string; place: SecretPlace }>[]> {
    const [root, fail] = [this.#root, this.#fail];
    async function* ofPod(pod: string) {
      const ownerOf = () => podNamed(basename(pod));
      for await (const path of podFiles(pod, fail)) {
        yield { path, place: { path, values: /$/, ownerOf } };
      }
    }
    async function* ofPlace(place: SecretPlace) {
      for await (const path of filesIn(place, root, fail)) yield { path, place };
    }
    const pods = await foldersIn(root + PODS, fail);
    return [...pods.map(ofPod), ...CONTAINERS.map(ofPlace)];
  }

  /** Returns the secrets; afterwards nothing more is reported. */
  end(): string[] {
    if (this.#failures > MAX_NAMED) {
      this.#failed(
        'other files',
        `${this.#failures - MAX_NAMED} more could not be searched for secrets`,
      );
    }
    const { cut } = this.#secrets;
    if (cut.length > 0) {
      const others = cut.filter((owner) => owner !== HOST).slice(0, MAX_OWNERS);
      const whose = others.length === 0 ? '' : `, most of them in ${others.join(', ')}`;
      this.#failed(
        'this host',
        `there are more than ${MAX_SECRETS}, or very long ones${whose}; the others were redacted only by name and shape`,
      );
    }
    this.#isOver = true;
    return this.#secrets.secrets;
  }

  async #place(place: SecretPlace): Promise<void> {
    for await (const path of filesIn(place, this.#root, this.#fail)) await this.#file(path, place);
  }

  readonly #fail: Failed = (path, reason) => {
    this.#failures += 1;
    if (this.#failures <= MAX_NAMED && !this.#isOver) this.#failed(path, reason);
  };

  async #file(path: string, place: SecretPlace): Promise<void> {
    this.path = path;
    this.#signal.throwIfAborted();
    if (this.#files >= MAX_FILES) throw new Error(`there are more than ${MAX_FILES}`);
    if (this.#bytes >= MAX_TOTAL_BYTES)
      throw new Error(`they have more than ${MAX_TOTAL_BYTES} bytes`);
    this.#files += 1;
    try {
      await this.#read(path, place);
    } catch (error) {
      this.#fail(path, describeError(error));
    }
  }

  async #read(path: string, place: SecretPlace): Promise<void> {
    const file = await openRegularFile(path);
    if (file === undefined) return;
    await using handle = file.handle;
    const { dev, ino, size: length } = file.status;
    const id = `${dev}:${ino}`;
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    const isLarge = LARGE.test(path);
    const size = sizeOf(path, length);
    if (size === 0) return;
    if (size > (isLarge ? MAX_LARGE_BYTES : MAX_FILE_BYTES)) {
      throw new Error(`${size} bytes are too large to be searched for secrets`);
    }
    this.#bytes += size;
    const contents = contentsOf(handle, size, this.#memory);
    if (size > MAX_FILE_BYTES) {
      await this.#secrets.read(contents);
      return;
    }
    const bytes = await wholeOf(contents);
    if (isBinary(bytes)) return;
    const text = bytes.toString('utf8');
    const owner = place.ownerOf?.(path.slice(this.#root.length), text);
    if (owner !== undefined) this.#count(owner, size);
    if (place.read === units) {
      for (const name of environmentFiles(text)) this.#environmentFiles.add(name);
    }
    const whose = owner === undefined ? {} : { owner };
    this.#secrets.readText(text, { ...place, ...whose });
    if (place.values?.test(path) === true && size <= MAX_VALUE_BYTES) {
      this.#secrets.readValue(basename(path), text, owner);
    }
  }

  /** To search takes longer than to read. */
  #count(owner: string, size: number): void {
    const bytes = (this.#bytesOf.get(owner) ?? 0) + size;
    if (bytes > MAX_BYTES_OF_ONE) {
      throw new Error(`the files of ${owner} have more than ${MAX_BYTES_OF_ONE} bytes`);
    }
    this.#bytesOf.set(owner, bytes);
  }
}

/** Files of /proc report size 0 until they are read. */
const sizeOf = (path: string, size: number) =>
  size === 0 && path.endsWith('/proc/cmdline') ? 4096 : size;

/** Keytabs, databases, archives. */
const isBinary = (bytes: Buffer) => bytes.subarray(0, 4096).includes(0);

/** The chunks share memory. */
async function wholeOf(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const copies: Buffer[] = [];
  for await (const chunk of chunks) copies.push(Buffer.from(chunk));
  return Buffer.concat(copies);
}
