import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { bootPartitionFiles, INSTALLED_ARGUMENTS, STATEROOT } from './boot-files.ts';
import { FILE_CONTEXTS } from './system.ts';
import { runInTree, WORK } from './tree.ts';

/** The branch of the operating system, of which an update makes another commit. */
export const BRANCH = `${STATEROOT}/x86_64/stable`;
/** Folders that are empty in a commit, or a mount point: `ostree commit` refuses device nodes. */
const EMPTY = ['boot', 'dev', 'proc', 'run', 'sys', 'tmp', 'var'];

export interface Sysroot {
  /** What is on the root file system: the repository, one deployment, and the stateroot's /var. */
  readonly root: string;
  /** What is on the boot file system. */
  readonly boot: string;
  /** The deployment, as a path on the root file system. */
  readonly deployment: string;
}

/**
 * Makes a commit of a tree, and deploys it into folders, with the tree's own ostree. Neither the tree nor this machine
 * needs anything else, and no file system is mounted.
 *
 * @param work an empty folder, on the file system of the tree
 */
export async function deploy(tree: string, work: string, signal: AbortSignal): Promise<Sysroot> {
  const within = { cancelSignal: signal, timeout: 5 * 60_000 };
  const inTree = (...command: string[]) => runInTree(tree, command, signal, work);
  const ostree = (...args: string[]) => inTree('ostree', ...args);
  const sysroot = join(WORK, 'sysroot');
  const at = `--sysroot=${sysroot}`;
  const repository = `--repo=${join(sysroot, 'ostree/repo')}`;
  await makeCommitTree(tree, work, signal);
  await label(inTree, join(WORK, 'commit'), EMPTY);
  await mkdir(join(work, 'sysroot'));
  await ostree('admin', 'init-fs', '--modern', sysroot);
  for (const [key, value] of [
    ['readonly', 'true'],
    ['bootloader', 'none'],
  ] as const) {
    await ostree(repository, 'config', 'set', `sysroot.${key}`, value);
  }
  await ostree('admin', 'os-init', at, STATEROOT);
  const commit = [`--branch=${BRANCH}`, '--subject=lab', '--add-metadata-string=version=1'];
  await ostree(repository, 'commit', ...commit, `--tree=dir=${join(WORK, 'commit')}`);
  const karg = INSTALLED_ARGUMENTS.split(' ').map((argument) => `--karg-append=${argument}`);
  // Without the immutable flag, which would outlive a build that is killed.
  const debug = ['env', 'OSTREE_SYSROOT_DEBUG=mutable-deployments'];
  await inTree(...debug, 'ostree', 'admin', 'deploy', at, `--os=${STATEROOT}`, ...karg, BRANCH);
  const stateroot = join('ostree/deploy', STATEROOT);
  const deployment = join(
    stateroot,
    'deploy',
    await deploymentIn(join(work, 'sysroot', stateroot)),
  );
  await execa('cp', ['-a', `${work}/var/.`, join(work, 'sysroot', stateroot, 'var')], within);
  await rename(join(work, 'sysroot/boot'), join(work, 'boot'));
  await addBootFiles(join(work, 'boot'));
  await mkdir(join(work, 'sysroot/boot'));
  await label(inTree, join(sysroot, deployment), ['etc']);
  const labelled = [deployment, join(stateroot, 'var'), 'ostree/repo/objects'];
  await label(inTree, sysroot, ['.'], labelled);
  await label(inTree, WORK, ['boot']);
  for (const folder of ['commit', 'var']) await rm(join(work, folder), { recursive: true });
  return { root: join(work, 'sysroot'), boot: join(work, 'boot'), deployment };
}

/** The tree as a commit has it, without a copy of its files, and its /var beside it. */
async function makeCommitTree(tree: string, work: string, signal: AbortSignal): Promise<void> {
  const commit = join(work, 'commit');
  await execa('cp', ['-a', '--link', tree, commit], { cancelSignal: signal, timeout: 5 * 60_000 });
  await rename(join(commit, 'etc'), join(commit, 'usr/etc'));
  await rename(join(commit, 'var'), join(work, 'var'));
  for (const name of EMPTY) {
    await rm(join(commit, name), { recursive: true, force: true });
    await mkdir(join(commit, name));
  }
}

/** What is there beside the files of ostree. */
async function addBootFiles(boot: string): Promise<void> {
  for (const [path, contents] of bootPartitionFiles) {
    await mkdir(dirname(join(boot, path)), { recursive: true });
    await writeFile(join(boot, path), contents);
  }
}

/** The name of the only one. */
async function deploymentIn(stateroot: string): Promise<string> {
  const names = await readdir(join(stateroot, 'deploy'));
  const [name, ...more] = names.filter((each) => !each.endsWith('.origin'));
  if (name !== undefined && more.length === 0) return name;
  throw new Failure('fatal', `${stateroot} has not exactly one deployment`, {
    found: names.join(' '),
  });
}

/**
 * Labels folders of a root by their paths in it, as the policy says. ostree labels files alone where the machine has no
 * SELinux.
 */
async function label(
  inTree: (...command: string[]) => Promise<void>,
  root: string,
  folders: readonly string[],
  without: readonly string[] = [],
): Promise<void> {
  const leaveOut = without.flatMap((path) => ['-e', join(root, path)]);
  const paths = folders.map((path) => join(root, path));
  await inTree('setfiles', '-F', ...leaveOut, '-r', root, `/${FILE_CONTEXTS}`, ...paths);
}
