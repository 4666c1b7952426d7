import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { ensureComponent } from '../../lab/components/component.ts';
import { coreosInstaller } from '../../lab/components/coreos-installer.ts';
import { coreosLayout, EMBED_AREA_BYTES } from '../../lab/components/coreos-layout.ts';
import { missingPrerequisites } from '../../lab/components/debian-packages.ts';
import { ISOLINUX, makeIso } from '../../lab/components/live-iso.ts';
import { LIVE_ARGUMENTS, liveBootLoaders } from '../../lab/components/machine/boot-files.ts';

const signal = AbortSignal.timeout(20 * 60_000);
const within = { timeout: 60_000, cancelSignal: signal };
const lacks = await missingPrerequisites();
const folder = await mkdtemp(join(tmpdir(), 'machine-iso-'));
t.teardown(() => rm(folder, { recursive: true }));
const iso = join(folder, 'live.iso');

/** The ISO of the lab's machines without what is large in it. */
async function makeSmallIso(): Promise<void> {
  const tree = join(folder, 'tree');
  const write = async (path: string, contents: string | Uint8Array) => {
    await mkdir(dirname(join(tree, path)), { recursive: true });
    await writeFile(join(tree, path), contents);
  };
  for (const [path, contents] of coreosLayout(LIVE_ARGUMENTS, liveBootLoaders)) {
    await write(path, contents);
  }
  await write('images/ignition.img', new Uint8Array(EMBED_AREA_BYTES));
  await write('images/efiboot.img', new Uint8Array(1024 * 1024));
  await copyFile(join(ISOLINUX, 'isolinux.bin'), join(tree, 'isolinux/isolinux.bin'));
  await makeIso(iso, tree, { signal });
}

async function fileOf(path: string): Promise<string> {
  const target = join(folder, 'extracted');
  await rm(target, { force: true });
  const extract = ['-osirrox', 'on', '-indev', iso, '-extract', path, target];
  await execa('xorriso', extract, { ...within, stderr: 'ignore' });
  return readFile(target, 'utf8');
}

t.test(
  'coreos-installer edits what the boot loaders read',
  { skip: lacks.join('; ') },
  async (t) => {
    const report = (line: string) => process.stderr.write(`coreos-installer: ${line}\n`);
    const program = join(
      await ensureComponent(coreosInstaller, { signal, report }),
      'coreos-installer',
    );
    await makeSmallIso();
    const shown = await execa(program, ['iso', 'kargs', 'show', iso], within);
    t.equal(shown.stdout, LIVE_ARGUMENTS);

    const config = '{"ignition":{"version":"3.3.0"}}';
    await execa(program, ['iso', 'kargs', 'modify', '-a', 'rd.neednet=1', iso], within);
    await execa(program, ['iso', 'ignition', 'embed', iso], { ...within, input: config });
    const line = `${LIVE_ARGUMENTS} rd.neednet=1\n#`;
    const [grub = '', isolinux = ''] = liveBootLoaders.map(({ path }) => path);
    t.match(await fileOf(grub), `linux /images/pxeboot/vmlinuz ${line}`);
    t.match(await fileOf(grub), '#\n  initrd /images/pxeboot/initrd.img /images/ignition.img\n}\n');
    const initrds = '/images/pxeboot/initrd.img,/images/ignition.img';
    t.match(await fileOf(isolinux), `append initrd=${initrds} ${line}`);
    t.equal((await execa(program, ['iso', 'ignition', 'show', iso], within)).stdout, config);
  },
);
