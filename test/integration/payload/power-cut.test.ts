import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { cp, lstat, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { runPayload } from '../../../agents/upkeep/payload/main.ts';
import { cutPower } from '../../../lab/host/power-cut.ts';
import { describeError } from '../../../lib/base/errors/failure.ts';
import { connectHostRuntime } from '../../../lib/clients/cri/runtime.ts';
import { ifMissing } from '../../../lib/host/files.ts';
import { waitForFiles } from '../../../lib/host/watch.ts';
import { bringPayload, payloadIsThere } from '../../../lib/payload/bring.ts';
import { containerdImporter } from '../../../lib/payload/containerd.ts';
import { readImageArchive } from '../../../lib/payload/image/archive.ts';
import { readImported } from '../../../lib/payload/imported.ts';
import { withChainIds } from '../../../lib/payload/unpacked.ts';
import { withoutLoopDevices as skip } from '../loop-disk.ts';
import { BASE, containerdHost, PROGRAMS, program, SERIES } from './containerd-host.ts';

type Host = Awaited<ReturnType<typeof containerdHost>>;
const signal = AbortSignal.timeout(20 * 60_000);

/** The unpacked files with this name, one for each layer that has it. */
async function filesAt({ paths }: Host, path: string): Promise<string[]> {
  const store = paths.at('/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots');
  const files = (await readdir(store)).map((number) => join(store, number, 'fs', path));
  const found = await Promise.all(
    files.map(async (file) => ((await lstat(file).catch(ifMissing)) === undefined ? [] : [file])),
  );
  return found.flat();
}

/** The contents of a file with one byte that differs. */
async function changed(file: string): Promise<Buffer> {
  const contents = await readFile(file);
  contents.writeUInt8((contents.readUInt8(1000) + 1) % 256, 1000);
  return contents;
}

/** As on a host that an earlier release has installed, after its next boot. */
async function forget({ paths }: Host): Promise<void> {
  await rm(paths.at('/run/sno-agents'), { recursive: true });
  await rm(join(paths.state, 'images-imported.json'));
}

/** The chain id of the upper layer of an image. */
async function topLayer({ images, payload }: Host, name: string): Promise<string> {
  const image = images.find((each) => each.name === name);
  const archive = await readImageArchive(join(payload, image?.archive ?? ''), signal);
  return withChainIds(archive.images[0]?.layers ?? []).at(-1)?.chainId ?? '';
}

/** Every program of the payload is unpacked, with its contents. */
async function expectWhole(t: Test, host: Host): Promise<void> {
  for (const [path, wanted] of Object.values({ ...PROGRAMS, BASE }).flatMap(Object.entries)) {
    if (!Buffer.isBuffer(wanted)) continue;
    const files = await filesAt(host, path);
    // Of a layer that two images have, the import that came second may have left what it began to unpack.
    const found = await Promise.all(files.map((file) => readFile(file)));
    t.strictSame(
      found.map(({ length }) => length).sort((a, b) => b - a)[0],
      wanted.length,
      `${path} has all its bytes`,
    );
    t.ok(
      found.some((contents) => contents.equals(wanted)),
      `${path} has its contents`,
    );
  }
}

/** The programs of the host's PATH: its own ctr and a sync, either of which may be replaced by a script. */
function onPath(t: Test, { programs, folder }: Host) {
  const replaced = join(folder, 'replaced');
  mkdirSync(replaced);
  const before = process.env.PATH;
  t.teardown(() => {
    process.env.PATH = before;
  });
  const use = (scripts: { readonly sync?: string; readonly ctr?: string } = {}) => {
    process.env.PATH = `${replaced}:${programs}:${before}`;
    const start = `${programs}/containerd --config ${join(folder, 'config.toml')}`;
    const all = {
      sync: 'exec /usr/bin/sync "$@"',
      ctr: `exec ${programs}/ctr "$@"`,
      systemctl: `echo '{ path=${programs}/containerd ; argv[]=${start} ; pid=0 }'`,
      ...scripts,
    };
    for (const [name, script] of Object.entries(all)) {
      writeFileSync(join(replaced, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(replaced, name), 0o755);
    }
  };
  use();
  return use;
}

type Use = ReturnType<typeof onPath>;

/**
 * Brings the payload up to the call of a program whose arguments contain that text, and cuts the power there: the file system
 * never gets what it has not written.
 */
async function cutBefore(host: Host, use: Use, program: 'sync' | 'ctr', text = ''): Promise<void> {
  const at = join(host.folder, 'reached');
  const go = join(host.folder, 'go');
  const real = program === 'ctr' ? `${host.programs}/ctr` : '/usr/bin/sync';
  const stop = `: > ${at}; until [ -e ${go} ]; do sleep 0.05; done; exit 1`;
  use({ [program]: `case "$*" in *"${text}"*) ${stop};; esac\nexec ${real} "$@"` });
  const bringing = bringPayload(host.payload, host.paths, host.progress).catch(
    (error: unknown) => error,
  );
  await waitForFiles([at], async () => existsSync(at), {
    ...{ signal, deadlineMs: 60_000, describe: () => `the call of ${program} ${text}` },
  });
  await cutPower([host.root]);
  use({ [program]: 'exit 1' });
  writeFileSync(go, '');
  await bringing;
  await host.stop();
  use();
}

for (const [series, component] of Object.entries(SERIES)) {
  t.test(`containerd ${series}`, { skip }, async (t) => {
    await t.test('imports a sound payload at the first attempt', async (t) => {
      const host = await containerdHost(t, component);
      onPath(t, host);
      await host.boot();
      t.equal(await payloadIsThere(host.payload, host.paths, signal), false);
      t.strictSame(await bringPayload(host.payload, host.paths, host.progress), {
        images: 2,
        binaries: 1,
      });
      await expectWhole(t, host);
      await cutPower([host.root]);
      await host.stop();
      await host.boot();
      t.equal(await payloadIsThere(host.payload, host.paths, signal), true, 'durable');
      await expectWhole(t, host);
    });

    await t.test(
      'after a power cut before the sync, what was not written is imported again',
      async (t) => {
        const host = await containerdHost(t, component);
        const use = onPath(t, host);
        await host.boot();
        await cutBefore(host, use, 'sync');
        await host.boot();
        t.equal(
          await payloadIsThere(host.payload, host.paths, signal),
          false,
          'a name is not enough',
        );
        t.strictSame([...(await readImported(host.paths))], []);
        await bringPayload(host.payload, host.paths, host.progress);
        await expectWhole(t, host);
        t.equal(await payloadIsThere(host.payload, host.paths, signal), true);
      },
    );

    for (const call of ['content ingest', 'images import -']) {
      await t.test(`after a power cut before "ctr ${call}", all is imported`, async (t) => {
        const host = await containerdHost(t, component);
        const use = onPath(t, host);
        await host.boot();
        await cutBefore(host, use, 'ctr', call);
        await host.boot();
        await bringPayload(host.payload, host.paths, host.progress);
        await expectWhole(t, host);
        t.equal(await payloadIsThere(host.payload, host.paths, signal), true);
      });
    }

    await t.test('layers are placed in the store, and received if they cannot be', async (t) => {
      const host = await containerdHost(t, component);
      const use = onPath(t, host);
      await host.boot();
      const kinds = async () => {
        const { stdout } = await host.ctr('images', 'ls', 'name~=^r.test/');
        return stdout
          .split('\n')
          .slice(1)
          .map((line) => /vnd\.(\w+)/.exec(line)?.[1]);
      };
      // As if each were collected as soon as it has its name, and before containerd knows of it.
      const blobs = host.paths.at(
        '/var/lib/containerd/io.containerd.content.v1.content/blobs/sha256',
      );
      use({
        ctr: [
          'for word; do case "$word" in --expected-digest=sha256:*)',
          `  mkdir ${host.folder}/\${word#*:} && rm ${blobs}/\${word#*:}`,
          'esac; done',
          `exec ${host.programs}/ctr "$@"`,
        ].join('\n'),
      });
      await bringPayload(host.payload, host.paths, host.progress);
      t.strictSame(await kinds(), ['oci', 'oci']);
      await expectWhole(t, host);
      await host.ctr(
        'images',
        'rm',
        '--sync',
        ...host.images.flatMap(({ reference, id }) => [reference, id]),
      );
      use({
        ctr: `case "$*" in *"content ingest"*) exit 1;; esac\nexec ${host.programs}/ctr "$@"`,
      });
      await bringPayload(host.payload, host.paths, host.progress);
      t.strictSame(await kinds(), ['docker', 'docker']);
      await expectWhole(t, host);
      use();
      using runtime = connectHostRuntime(host.paths);
      const [pause] = host.images;
      if (pause === undefined) throw new Error('no image');
      const path = join(host.payload, pause.archive);
      await host.ctr('images', 'rm', '--sync', pause.reference, pause.id);
      const elsewhere = containerdImporter(runtime, host.paths.at('/var/lib/other'));
      const said = await elsewhere.importArchive(
        { ...pause, path },
        { signal, deadlineMs: 60_000 },
      );
      t.match(said, /^Imported pause as a whole: .*\/var\/lib\/other\/.* is not this containerd's/);
      t.strictSame(await kinds(), ['docker', 'docker'], 'its files are in another folder');
      await expectWhole(t, host);
    });

    await t.test('a damaged layer is refused by the runtime, and its archive named', async (t) => {
      const host = await containerdHost(t, component);
      onPath(t, host);
      await host.boot();
      const archive = join(host.payload, 'images/etcd.tar');
      const bytes = await readFile(archive);
      const at = bytes.indexOf(program('etcd', 64)) + 2_000_000;
      bytes.writeUInt8((bytes.readUInt8(at) + 1) % 256, at);
      await writeFile(archive, bytes);
      t.match(
        await bringPayload(host.payload, host.paths, host.progress).catch(describeError),
        /payload .* is damaged: images\/etcd.tar: expected SHA-256 /,
      );
      t.equal(await payloadIsThere(host.payload, host.paths, signal), false);
      bytes.writeUInt8((bytes.readUInt8(at) + 255) % 256, at);
      await writeFile(archive, bytes);
      await bringPayload(host.payload, host.paths, host.progress);
      await expectWhole(t, host);
    });

    await t.test('unpacked files that differ are found and imported again', async (t) => {
      const host = await containerdHost(t, component);
      onPath(t, host);
      await host.boot();
      await bringPayload(host.payload, host.paths, host.progress);
      const damages: [name: string, path: string, change: (file: string) => Promise<void>][] = [
        ['etcd', 'usr/local/bin/etcd', (file) => truncate(file, 0)],
        ['etcd', 'usr/local/bin/etcd', (file) => rm(file)],
        ['pause', 'pause', async (file) => writeFile(file, await changed(file))],
        ['pause', 'etc/os-release', (file) => truncate(file, 1)],
        ['pause', 'lib', (file) => rm(file, { recursive: true })],
      ];
      for (const [name, path, change] of damages) {
        for (const file of await filesAt(host, path)) await change(file);
        await forget(host);
        host.lines.length = 0;
        await bringPayload(host.payload, host.paths, host.progress);
        t.match(host.lines.join(''), `copy of ${name} is damaged: /${path} `);
        t.match(host.lines.join(''), `import ${name}`);
        await expectWhole(t, host);
      }
      await forget(host);
      host.lines.length = 0;
      await bringPayload(host.payload, host.paths, host.progress);
      t.strictSame(host.lines, [], 'what is whole is not imported again');
    });

    await t.test('on request, images are compared at the next start of the host', async (t) => {
      const host = await containerdHost(t, component);
      onPath(t, host);
      await host.boot();
      await bringPayload(host.payload, host.paths, host.progress);
      const [file = ''] = await filesAt(host, 'usr/local/bin/etcd');
      await truncate(file, 0);
      await rm(host.paths.at('/run/sno-agents'), { recursive: true });
      t.equal(await payloadIsThere(host.payload, host.paths, signal), true, 'not looked at');
      await cp(host.payload, host.paths.payload, { recursive: true });
      const printed: string[] = [];
      const write = (text: string) => void printed.push(text);
      t.equal(await runPayload(host.paths, ['import-again'], { write }), 0);
      t.match(printed.join(''), 'systemctl reboot');
      t.equal(await payloadIsThere(host.payload, host.paths, signal), false);
      await bringPayload(host.payload, host.paths, host.progress);
      await expectWhole(t, host);
    });

    await t.test('what a container needs is not removed, and not recorded either', async (t) => {
      const host = await containerdHost(t, component);
      onPath(t, host);
      await host.boot();
      await bringPayload(host.payload, host.paths, host.progress);
      const chain = await topLayer(host, 'etcd');
      await host.ctr('snapshots', 'prepare', 'a-container', chain);
      const [file = ''] = await filesAt(host, 'usr/local/bin/etcd');
      await truncate(file, 0);
      await forget(host);
      host.lines.length = 0;
      await bringPayload(host.payload, host.paths, host.progress);
      t.match(host.lines.join(''), /etcd is still damaged: .*restart the host/);
      await host.ctr('snapshots', 'rm', 'a-container');
      await rm(host.paths.at('/run/sno-agents'), { recursive: true });
      t.equal(await payloadIsThere(host.payload, host.paths, signal), false, 'at the next boot');
      await bringPayload(host.payload, host.paths, host.progress);
      await expectWhole(t, host);
    });

    await t.test('what a killed import has unpacked without a name is not trusted', async (t) => {
      const host = await containerdHost(t, component);
      onPath(t, host);
      await host.boot();
      await bringPayload(host.payload, host.paths, host.progress);
      const chain = await topLayer(host, 'etcd');
      await host.ctr('snapshots', 'label', chain, 'containerd.io/gc.root=now');
      await host.ctr('images', 'rm', '--sync', 'r.test/etcd:1', host.images[1]?.id ?? '');
      const [file = ''] = await filesAt(host, 'usr/local/bin/etcd');
      await truncate(file, 0);
      await bringPayload(host.payload, host.paths, host.progress);
      await expectWhole(t, host);
    });
  });
}
