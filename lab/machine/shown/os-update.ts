import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { recordPath } from '../../../lib/engine/agents/records.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { AllInOne } from '../../all-in-one.ts';
import { collectBundle } from '../../bundle/collect.ts';
import { rotate } from '../../certificates/rotation.ts';
import { documentedChanges, emptyVar, readOnly } from '../../checks/deployment.ts';
import { nodeReady } from '../../checks/node-ready.ts';
import { BRANCH } from '../../components/machine/deployment.ts';
import { eventually } from '../../eventually.ts';
import { demandedOf, meetAll, type TroublesOf } from '../../faults/troubles.ts';
import { type Deployment, deploymentsOf } from '../../host/deployments.ts';
import { onHost } from '../../host/on-host.ts';
import { scenarioOf } from '../../installation.ts';
import { rebootByHand } from '../../restart.ts';
import type { Scenario } from '../../scenario.ts';
import { needed, shown, shownChecks } from './row.ts';
import { requireEnforced } from './selinux.ts';

const READY_MS = 6 * 60_000;
const DEPLOY_MS = 5 * 60_000;
const OVERLAY = '/var/tmp/lab-update';
/** By which the host knows its system; the image has none. */
const VERSION_FILE = '/usr/share/lab-version';
/** Deleted by the installation at its end. */
const LEFTOVER = 'etc/systemd/system/aiokube.service';
/** Of sno-payload's step `deployment`. */
const WARNING = 'is older than /var';
const AUTHORITY = 'legacy-unknown';

/**
 * The entry of the other deployment gets the highest version, as by `ostree admin set-default`, which ostree 2022.7 does not
 * have. /boot is writable in the mount namespace of the shell alone.
 */
const BOOT_THE_OTHER = `
set -eu
mount -o remount,rw /boot
cd /boot/loader/entries
booted=$(grep -o 'ostree=[^ ]*' /proc/cmdline)
other=$(grep --files-without-match --word-regexp --fixed-strings "$booted" *.conf)
highest=$(sed -n 's/^version //p' *.conf | sort -n | tail -n 1)
sed -i "s/^version .*/version $((highest + 1))/" "$other"
sync --file-system .
`;

const recordSchema = z.object({ deployment: z.string() });
const dfSchema = z.array(z.object({ target: z.string(), writes: z.array(z.string()) }));

const failed = (what: string, expected: string, found: string) =>
  new Failure('fatal', what, { expected, found });

/** An all-in-one host whose operating system is updated, goes back, and forward again. */
class UpdatedSystem extends AllInOne {
  /** Of a commit that differs from the last one in a file. ostree merges the /etc of the booted deployment. */
  async deploy(version: string): Promise<void> {
    const file = join(OVERLAY, VERSION_FILE);
    await this.#onHost(['mkdir', '--parents', dirname(file)]);
    await this.#onHost(['sh', '-c', 'echo "$1" > "$2"', 'sh', version, file]);
    const trees = [`--tree=ref=${BRANCH}`, `--tree=dir=${OVERLAY}`];
    const options = ['--repo=/ostree/repo', '--selinux-policy=/', `--branch=${BRANCH}`];
    const named = `--add-metadata-string=version=${version}`;
    await this.#onHost(['ostree', 'commit', ...options, ...trees, named], DEPLOY_MS);
    await this.#onHost(['rm', '--recursive', OVERLAY]);
    await this.#onHost(['ostree', 'admin', 'deploy', BRANCH], DEPLOY_MS);
  }

  /** The next deployment gets a copy of what the installation, which goes on, deletes at its end. */
  async deployMeanwhile(): Promise<void> {
    await this.deploy('2');
    if (!(await this.#isLeft())) throw failed('/etc was not copied', LEFTOVER, 'not there');
  }

  async nothingLeft(): Promise<void> {
    if (await this.#isLeft()) throw failed('a leftover is in the other /etc', 'none', LEFTOVER);
  }

  async updated(): Promise<void> {
    await this.deploy('3');
    await this.#restartInto('updated', '3');
    await this.#atWork();
    const booted = (await this.#deployments()).find(({ isBooted }) => isBooted)?.path;
    const path = recordPath(hostPaths(this.booted.ownView), 'deployment');
    const { deployment } = recordSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    if (deployment === booted) return;
    throw failed('another deployment is on record', booted ?? 'a booted one', deployment);
  }

  async replaceAuthority(): Promise<void> {
    await rotate(this.cluster, ['rotate-ca', AUTHORITY], this.context.signal);
  }

  /** With the /etc that the image's deployment had when it was left. */
  async goneBack(): Promise<void> {
    await this.#bootOther('gone-back', '');
    await this.#expectWarning(true);
  }

  async forwardAgain(): Promise<void> {
    await this.#bootOther('forward-again', '3');
    await this.#expectWarning(false);
    await this.#atWork();
  }

  /** It has the warning, and says which file system the written folders are on: `df` lists that at /sysroot. */
  async bundle(): Promise<void> {
    const { folder, out, signal } = this.context;
    const id = 'lab';
    const command = `installer-gather.sh --id ${id}`;
    const collecting = { command, id, folder: join(folder, 'bundles', id), out };
    const bundle = await collectBundle(this.booted, collecting, signal);
    const textOf = (end: string) => {
      const path = bundle.paths.find((each) => each.endsWith(end));
      if (path !== undefined) return readFile(join(bundle.folder, path), 'utf8');
      throw failed('the bundle lacks a file', end, bundle.paths.join(' '));
    };
    const fileSystems = dfSchema.parse(JSON.parse(await textOf('/disks/df.json')));
    const target = fileSystems.find(({ writes }) => writes.includes('/var/lib/kubelet'))?.target;
    if (target !== '/sysroot') {
      throw failed('df does not say what /var is on', '/sysroot', target ?? 'nothing');
    }
    const journal = await textOf('/journals/sno-payload.log');
    if (!journal.includes(WARNING)) throw failed('the bundle has no warning', WARNING, journal);
  }

  async #bootOther(label: string, version: string): Promise<void> {
    await this.#onHost(['unshare', '--mount', 'sh', '-c', BOOT_THE_OTHER]);
    await this.#restartInto(label, version);
  }

  async #restartInto(label: string, version: string): Promise<void> {
    await rebootByHand(this.cluster, this.context.signal);
    await this.booted.stop();
    await this.bootInstalled(label);
    const found = await this.#onHost(['sh', '-c', `cat ${VERSION_FILE} || true`]);
    if (found !== version) throw failed('another system has booted', version, found);
  }

  async #expectWarning(isExpected: boolean): Promise<void> {
    const ask = ['systemctl', 'is-active', 'sno-payload.service'];
    await eventually(() => this.#onHost(ask), READY_MS, this.context.signal);
    const read = ['journalctl', '--boot', '--unit=sno-payload', '--output=cat'];
    const journal = await this.#onHost(read);
    if (journal.includes(WARNING) === isExpected) return;
    const expected = isExpected ? WARNING : 'no warning';
    throw failed('sno-payload misjudges the age of /etc', expected, journal.slice(-1000));
  }

  async #atWork(): Promise<void> {
    const { signal } = this.context;
    await eventually(() => nodeReady.run(this.cluster, signal), READY_MS, signal);
  }

  #deployments(): Promise<Deployment[]> {
    return deploymentsOf(this.booted, this.context.signal);
  }

  /** Whether the deployment that is not booted has it. */
  async #isLeft(): Promise<boolean> {
    const { signal } = this.context;
    const other = (await this.#deployments()).find(({ isBooted }) => !isBooted);
    if (other === undefined) throw failed('there is no other deployment', 'one', 'none');
    const ask = ['test', '-e', join(other.path, LEFTOVER)];
    return (await this.booted.exec(ask, { timeoutMs: DEPLOY_MS }, signal)).exitCode === 0;
  }

  #onHost(argv: readonly string[], timeoutMs?: number): Promise<string> {
    return onHost(this.booted, argv, this.context.signal, timeoutMs);
  }
}

const PLAN = 'all-in-one';

const troubles: TroublesOf<UpdatedSystem> = (run) => [
  shown('leftovers in another deployment', () => run().nothingLeft(), PLAN),
  ...shownChecks(
    [readOnly, documentedChanges, emptyVar],
    (check) => run().runChecks([check], () => undefined, {}),
    PLAN,
  ),
  needed(shown('operating system updated', () => run().updated(), PLAN)),
  needed(shown('CA replaced in the new deployment', () => run().replaceAuthority(), PLAN)),
  needed(shown('operating system rolled back', () => run().goneBack(), PLAN)),
  shown('log bundle after the rollback', () => run().bundle(), PLAN),
  needed(shown('forward again', () => run().forwardAgain(), PLAN)),
  shown('SELinux enforces', () => requireEnforced(run()), PLAN),
];

export const osUpdateRows = demandedOf(troubles);

/** The operating system of an all-in-one host is updated while it is installed, and later; it is rolled back over a change. */
export const osUpdate: Scenario = (context) => {
  const run = new UpdatedSystem(context);
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Deploy an update meanwhile', run: () => run.deployMeanwhile() },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    ...meetAll(
      troubles(() => run),
      context,
    ),
  ]);
};
