/** Media of strangers, made with the real ssh-keygen and age. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { pack } from 'tar-stream';
import { signText } from '../../../lib/pki/signature/ssh-signature.ts';
import { listedFiles, manifestText } from '../../../lib/relocation/site-volume/manifest.ts';
import { VOLUME_SIGNATURE } from '../../../lib/relocation/site-volume/signature.ts';
import { writeVolume } from '../../../lib/relocation/site-volume/write-volume.ts';
import {
  ageKeys,
  aVolume,
  encrypterTo,
  signal,
} from '../../unit/relocation/site-volume/volumes.ts';

export const limits = { signal, deadlineMs: 60_000 };

type Manifest = Parameters<typeof manifestText>[0];
export type Media = Awaited<ReturnType<typeof makeMedia>>;

/** What makes media in a folder, good and bad ones. */
export async function makeMedia(base: string) {
  async function makeKey(name: string) {
    const path = join(base, name);
    await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', path]);
    const sign = (text: string) => signText(text, path, VOLUME_SIGNATURE, limits);
    return { path, text: readFileSync(`${path}.pub`, 'utf8').trim(), sign };
  }

  const integrator = await makeKey('integrator');
  const stranger = await makeKey('stranger');
  const node = await ageKeys();
  const another = await ageKeys();
  const strict = {
    unsignedAllowed: false,
    allowedSigners: [integrator.text],
    ageIdentity: node.identity,
  };

  /** A good volume in a new folder, as a medium would have it. */
  async function medium(name: string, volume: Parameters<typeof aVolume>[0] = {}): Promise<string> {
    const folder = join(base, 'media', name.replaceAll(/[^a-z0-9]+/gi, '-'));
    mkdirSync(folder, { recursive: true });
    await writeVolume(folder, await aVolume({ sign: integrator.sign, ...volume }));
    return folder;
  }

  /** Writes the manifest again for what is there now, signed by the integrator. */
  async function resign(folder: string, change: (manifest: Manifest) => object): Promise<void> {
    const path = join(folder, 'site-volume.json');
    const text = manifestText({
      ...JSON.parse(readFileSync(path, 'utf8')),
      ...change(JSON.parse(readFileSync(path, 'utf8'))),
    });
    writeFileSync(path, text);
    writeFileSync(`${path}.sig`, await integrator.sign(text));
  }

  /** Replaces a file by one that the manifest knows. */
  async function replace(folder: string, path: string, contents: string | Uint8Array) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), contents);
    const [listed] = listedFiles(new Map([[path, Buffer.from(contents)]]));
    await resign(folder, ({ files }) => ({
      files: [...files.filter((file) => file.path !== path), listed],
    }));
  }

  /** A tar archive with entries of any kind, encrypted for the node. */
  async function archive(entries: readonly Parameters<ReturnType<typeof pack>['entry']>[0][]) {
    const tar = pack();
    for (const header of entries) tar.entry(header, header.type === undefined ? 'text' : '');
    tar.finalize();
    const pieces: Buffer[] = [];
    for await (const piece of tar) if (Buffer.isBuffer(piece)) pieces.push(piece);
    return encrypterTo(node.recipient).encrypt(Buffer.concat(pieces));
  }

  return { integrator, stranger, node, another, strict, medium, resign, replace, archive };
}
