import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, open, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { stringify } from 'yaml';
import { filesOnIso } from '../../cli/iso/iso-files.ts';
import {
  at,
  createSite,
  makeInputs,
  newSite,
  payload,
  share,
  signal,
  skip,
  sno,
  within,
} from './shared-iso-folder.ts';

/** A copy of the shared ISO with a changed byte in one of its files. */
async function damagedCopy(name: string, path: string): Promise<string> {
  const extent = (await filesOnIso(at('shared.iso'), '/sno-agents', signal)).get(path);
  await copyFile(at('shared.iso'), at(name));
  await using file = await open(at(name), 'r+');
  await file.write(Buffer.from('!'), 0, 1, (extent?.offset ?? 0) + 30);
  return at(name);
}

t.test('a shared ISO that cannot be used', { skip }, async (t) => {
  await makeInputs();
  t.match(await share('shared.iso', ...payload()), { code: 0 });
  t.match(await share('bare.iso'), { code: 0 });
  const shared = await readFile(at('shared.iso'));
  for (const name of ['a', 'c']) await newSite(name);
  t.match(await createSite('a'), { code: 0, err: '' });

  await t.test('what cannot be right is refused, and nothing is left behind', async (t) => {
    await newSite('large');
    await mkdir(at('large/manifests'));
    const data = { noise: randomBytes(400_000).toString('base64') };
    await writeFile(
      at('large/manifests/large.yaml'),
      stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data }),
    );
    await writeFile(at('not.iso'), randomBytes(100_000));
    await copyFile(at('shared.iso'), at('short.iso'));
    await truncate(at('short.iso'), shared.length - 1_000_000);
    const payloadFile = await damagedCopy('text.iso', '/sno-agents/payload/payload.yaml');
    const description = await damagedCopy('description.iso', '/sno-agents/medium.json');
    const image = await damagedCopy(
      'image.iso',
      '/sno-agents/payload/images/kube-controller-manager.tar',
    );
    await mkdir(at('other-payload'));
    await execa('cp', ['-r', `${at('payload')}/.`, at('other-payload')], within);
    await writeFile(
      at('other-payload/payload.yaml'),
      `# other\n${await readFile(at('payload/payload.yaml'), 'utf8')}`,
    );
    t.match(await share('other.iso', '--payload', at('other-payload')), { code: 0 });
    const before = await readdir(at(), { recursive: true });
    const elsewhere = ['--output', at('new.iso')];
    const sharing = (path: string) => ['--shared', path, ...elsewhere];
    for (const { dir = 'c', args, says } of [
      { dir: 'a', args: [], says: /already .*a\/single-node\.iso/ },
      { args: sharing(at('not.iso')), says: /not\.iso is not a CoreOS live ISO/ },
      {
        args: sharing(at('live.iso')),
        says: /live\.iso is not a shared ISO.*sno create shared-iso/,
      },
      { args: sharing(at('a/single-node.iso')), says: /already contains an Ignition config/ },
      { args: sharing(at('nowhere')), says: /nowhere cannot be read/ },
      { args: sharing('/dev/null'), says: /is not a regular file/ },
      {
        args: sharing(at('short.iso')),
        says: /short\.iso is not a CoreOS live ISO.*ISO image is incomplete/,
      },
      {
        args: sharing(payloadFile),
        says: /text\.iso is damaged.*\n.*payload\.yaml: expected SHA-256/,
      },
      {
        args: sharing(description),
        says: /description\.iso is not a shared ISO that this sno can read/,
      },
      { args: sharing(at('bare.iso')), says: /payload on .*bare\.iso: missing/ },
      {
        dir: 'a',
        args: sharing(at('other.iso')),
        says: /created for another medium\n.*other\.iso has the SHA-256 \w{64}, .* requires/,
      },
      { dir: 'large', args: elsewhere, says: /does not fit the live ISO.*\n.*large\.yaml/ },
      {
        args: ['--iso', at('live.iso'), ...payload(), ...elsewhere],
        says: /--iso and --payload: not with --shared/,
      },
    ]) {
      const { code, err } = await createSite(dir, ...args);
      t.match({ code, err }, { code: 2, err: says }, args.join(' '));
      t.notMatch(err, /fake|cGFzcwo/, 'no secret');
    }
    t.match(await sno(['create', 'single-node-iso', '--dir', at('c'), ...elsewhere]), {
      code: 2,
      err: /--iso: missing.*--shared/,
    });
    t.match(await share('shared.iso', ...payload()), { code: 2, err: /already .*shared\.iso/ });
    t.match(await share('new.iso', ...payload(), '--iso', at('a/single-node.iso')), {
      code: 2,
      err: /already contains/,
    });
    t.match(await share('nowhere/new.iso', ...payload()), { code: 2, err: /cannot be written/ });
    t.match(await sno(['verify', 'shared-iso', image]), {
      code: 2,
      err: /image\.iso is damaged.*\n.*controller-manager\.tar: expected/,
    });
    t.strictSame(await readdir(at(), { recursive: true }), before);
  });

  const isRoot = process.getuid?.() === 0;
  await t.test(
    'a disk without space',
    { skip: isRoot ? false : 'mounting needs root' },
    async (t) => {
      const disk = at('small');
      await mkdir(disk);
      execFileSync('mount', [
        '-t',
        'tmpfs',
        '-o',
        `size=${shared.length + 66 * 2 ** 20}`,
        'iso-test',
        disk,
      ]);
      t.teardown(() => execFileSync('umount', [disk]));
      const onDisk = ['--output', join(disk, 'new.iso')];
      t.match(await createSite('c', '--output', join(disk, 'fits.iso')), { code: 0 });
      t.match(await createSite('c', ...onDisk), {
        code: 2,
        err: /Not enough space in .*small; nothing was written/,
      });
      t.match(await share('small/new.iso', ...payload()), { code: 2, err: /Not enough space/ });
      t.strictSame(await readdir(disk), ['fits.iso']);
    },
  );
});
