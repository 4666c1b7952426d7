/** A sealed host with real mounts, a real systemd-creds and a TPM: what is on its disk, and who can open it. */
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { searchHost } from '../../../agents/steps/search-host.ts';
import { ensureComponent } from '../../../lab/components/component.ts';
import { missingPrerequisites } from '../../../lab/components/debian-packages.ts';
import { swtpm, swtpmPaths } from '../../../lab/components/swtpm.ts';
import { startTpm } from '../../../lab/servers/tpm.ts';
import { EXIT } from '../../../lib/base/errors/exit-codes.ts';
import { readStatus } from '../../../lib/engine/steps/status.ts';
import { hostPaths } from '../../../lib/host/paths.ts';

const BOOT = join(import.meta.dirname, 'boot.ts');
const signal = AbortSignal.timeout(8 * 60_000);
const lacks = await missingPrerequisites();
const NO_TPM = 'swtpm:host=127.0.0.1,port=1';
/** Keys of the payload: authorities, leaves, service accounts. */
const LEAST_KEYS = 16;

t.test('a sealed host', { skip: lacks.length > 0 && lacks.join('; ') }, async (t) => {
  const tpms = await ensureComponent(swtpm, { signal, report: (line) => t.comment(line) });
  const root = await mkdtemp(join(tmpdir(), 'seal-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));

  const newDisk = async (name: string) => {
    const disk = join(root, name);
    await mkdir(disk);
    await symlink('/proc', join(disk, 'proc'));
    return disk;
  };
  /** What the open host has in its sealed folders; undefined if it could not be opened. */
  const boot = async (disk: string, mode: string, device: string, action = 'look') => {
    const unshared = ['--mount', '--propagation', 'private', process.execPath, BOOT];
    const { exitCode, stdout, stderr } = await execa(
      'unshare',
      [...unshared, disk, mode, device, action],
      {
        reject: false,
        timeout: 120_000,
        env: {
          LD_LIBRARY_PATH: swtpmPaths(tpms).libraries.join(':'),
          // Of systemd-creds itself: the machine of the test gets no secret.
          SYSTEMD_CREDENTIAL_SECRET: join(root, `${mode}.secret`),
        },
      },
    );
    t.comment(stderr);
    const found: { files: Record<string, string>; keys: string[] } = JSON.parse(stdout);
    return { exitCode, ...found };
  };
  const onDisk = async (disk: string, keys: readonly string[]) => {
    const search = {
      wanted: new Set(keys),
      programs: new Map<string, string>(),
      layers: 'all',
    } as const;
    return (await searchHost(hostPaths(disk), search, signal)).found;
  };
  const filesIn = (disk: string) =>
    readdir(join(disk, 'etc/kubernetes/pki')).catch(() => [] as string[]);

  t.test('with a TPM: its disk has no key, and no other TPM opens it', async (t) => {
    const disk = await newDisk('tpm2');
    const state = join(root, 'tpm');
    const powered = async (tpm: string, action?: string) => {
      await using running = await startTpm(tpms, tpm);
      return await boot(disk, 'tpm2', running.device, action);
    };
    const installed = await powered(state, 'install');
    t.equal(installed.exitCode, EXIT.done);
    t.ok(installed.keys.length >= LEAST_KEYS, `${installed.keys.length} keys`);
    t.same(await filesIn(disk), [], 'the folder on the disk is empty');
    t.same(await onDisk(disk, installed.keys), []);

    const restarted = await powered(state);
    t.equal(restarted.exitCode, EXIT.done);
    t.same(restarted.files, installed.files, 'every file, after a restart');

    const stolen = await powered(join(root, 'another-tpm'));
    t.equal(stolen.exitCode, EXIT.deadline, 'the disk in another host');
    t.same(stolen.keys, []);
    t.match(await readStatus(join(disk, 'run/sno-agents/sno-unseal/status.json')), {
      state: 'failed',
      failure: { cause: { code: 'seal-unavailable' } },
    });
    const without = await boot(disk, 'tpm2', NO_TPM);
    t.equal(without.exitCode, EXIT.deadline, 'a host whose TPM is off');
    t.same(without.keys, []);
    t.same((await powered(state)).files, installed.files, 'the right one opens it all the same');
  });

  t.test('where a TPM is demanded and there is none, nothing is created', async (t) => {
    const disk = await newDisk('no-tpm');
    t.equal((await boot(disk, 'tpm2', NO_TPM, 'install')).exitCode, EXIT.deadline);
    t.same(await readdir(join(disk, 'var/lib/sno-agents')), ['sno-unseal']);
  });

  t.test("with the secret of the host's systemd: the same, but for that secret", async (t) => {
    const disk = await newDisk('host');
    const installed = await boot(disk, 'host', 'auto', 'install');
    t.equal(installed.exitCode, EXIT.done);
    t.same(await onDisk(disk, installed.keys), []);
    t.same((await boot(disk, 'host', 'auto')).files, installed.files);
    await rm(join(root, 'host.secret'));
    t.equal((await boot(disk, 'host', 'auto')).exitCode, EXIT.deadline, 'the secret is gone');
  });

  t.test(
    'what a live host has sealed to the TPM of the machine is opened from the disk',
    async (t) => {
      const disk = await newDisk('installed');
      const powered = async (tpm: string, action?: string) => {
        await using running = await startTpm(tpms, join(root, tpm));
        return await boot(disk, 'tpm2', running.device, action);
      };
      const first = await powered('tpm-of-machine', 'hand-over');
      t.equal(first.exitCode, EXIT.done);
      t.ok(first.keys.length >= LEAST_KEYS, `${first.keys.length} keys`);
      t.same(await onDisk(disk, first.keys), []);
      t.same((await powered('tpm-of-machine')).files, first.files);
      t.same((await powered('another-tpm')).keys, []);
    },
  );

  t.test('the first boot seals the key that a live host hands over, and deletes it', async (t) => {
    const disk = await newDisk('handed-over');
    const first = await boot(disk, 'host', 'auto', 'hand-over');
    t.equal(first.exitCode, EXIT.done);
    t.ok(first.keys.length >= LEAST_KEYS);
    const left = (await readdir(join(disk, 'var/lib/sno-agents/sealed'))).toSorted();
    t.same(left, ['files', 'key.cred']);
    t.same((await boot(disk, 'host', 'auto')).files, first.files);
  });

  t.test('a host that is not sealed has them on its disk: the search finds keys', async (t) => {
    const disk = await newDisk('plain');
    const { keys } = await boot(disk, 'none', 'auto', 'place');
    t.ok(keys.length >= LEAST_KEYS);
    t.match(await onDisk(disk, keys), ['/etc/kubernetes/pki/ca/admin/ca.key']);
  });
});
