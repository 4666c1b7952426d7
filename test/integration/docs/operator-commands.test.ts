import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { MINIMAL_INSTALL_CONFIG } from '../../../docs/install-config-reference.ts';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { parseConfig } from '../../../lib/render/ignition/config.ts';
import { agentsExecutable } from '../../unit/cli/agents-executable.ts';
import { payloadSources } from '../../unit/cli/payload-sources.ts';
import { read } from '../../unit/docs/documents.ts';
import { dockerArchive, layerOf, tarOf } from '../../unit/payload/image/archives.ts';

const operator = read('docs/operator.md');
const main = join(import.meta.dirname, '../../../cli/main.ts');

const sectionOf = (heading: string, document = operator): string =>
  document.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';

function block(heading: string, language: string, section = sectionOf(heading)): string {
  return new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(section)?.[1] ?? '';
}

/** The lines that begin with `sno`, continuation lines joined, split into arguments. */
const commandsIn = (text: string): string[][] =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.startsWith('sno '))
    .map((line) => line.split(/ +/).slice(1));

const commands = commandsIn(block('The commands, in order', 'sh'));
/** Without a network; what is fetched is tested with a registry (cli/fetch-payload.test.ts). */
const [byHand = []] = commandsIn(
  sectionOf('A payload for an air-gapped site', read('docs/payload.md')),
);

t.test("the operator's minimal configuration is the tested one", async (t) => {
  t.equal(block('A minimal configuration', 'yaml'), MINIMAL_INSTALL_CONFIG);
});

/** The files named by the commands, in the folder that they run in. */
async function sources(folder: string): Promise<void> {
  const { write } = await payloadSources(folder);
  renameSync(join(folder, 'cni'), join(folder, 'cni-plugins'));
  for (const [name, reference] of [
    ['etcd', 'registry.k8s.io/etcd:3.6.8-0'],
    ['pause', 'registry.k8s.io/pause:3.10'],
    ['kube-apiserver', 'registry.k8s.io/kube-apiserver:v1.37.2'],
    ['kube-controller-manager', 'registry.k8s.io/kube-controller-manager:v1.37.2'],
    ['kube-scheduler', 'registry.k8s.io/kube-scheduler:v1.37.2'],
    ['kube-proxy', 'registry.k8s.io/kube-proxy:v1.37.2'],
    ['coredns', 'registry.k8s.io/coredns/coredns:v1.12.1'],
    ['local-path-provisioner', 'docker.io/rancher/local-path-provisioner:v0.0.30'],
    ['flannel', 'docker.io/flannel/flannel:v0.28.10'],
  ] as const) {
    const archive = await dockerArchive([{ references: [reference], layer: await layerOf(name) }]);
    write(`${name}.tar`, await tarOf(archive));
  }
  mkdirSync(join(folder, 'D'));
  write('D/install-config.yaml', MINIMAL_INSTALL_CONFIG);
  write('agents', agentsExecutable());
  write('LIVE.iso', 'not really');
}

t.test("the operator's commands work in order, and pin the payload", async (t) => {
  const cwd = t.testdir();
  await sources(cwd);
  const run = (args: readonly string[]) =>
    execa(process.execPath, [main, ...args], {
      cwd,
      // None of the programs that create an ISO is found.
      env: { PATH: '/nowhere', SNO_AGENTS_EXECUTABLE: join(cwd, 'agents') },
      reject: false,
      timeout: 60_000,
    });
  const names = commands.map((args) => args.slice(0, 2).join(' '));
  t.strictSame(names, [
    'create payload',
    'verify payload',
    'create single-node-ignition-config',
    'create single-node-iso',
    'wait-for bootstrap-complete',
    'wait-for install-complete',
  ]);
  // Commands that hash or sync need the system's programs.
  const withPrograms = (args: readonly string[]) =>
    execa(process.execPath, [main, ...args], {
      cwd,
      env: { SNO_AGENTS_EXECUTABLE: join(cwd, 'agents') },
      reject: false,
      timeout: 60_000,
    });
  t.strictSame(byHand.slice(0, 2), ['create', 'payload']);
  for (const args of [byHand, ...commands.slice(1, 3)]) {
    const { exitCode, stdout, stderr } = await withPrograms(args);
    t.equal(exitCode, 0, `${args.join(' ')}\n${stderr}`);
    t.notMatch(stdout, /not pinned/);
  }
  const ignition = readFileSync(join(cwd, 'D/bootstrap-in-place-for-live-iso.ign'), 'utf8');
  const described = parseConfig(ignition, 'D').storage?.files?.find(
    ({ path }) => path === '/etc/sno-agents/cluster.json',
  );
  const digest = sha256(readFileSync(join(cwd, 'payload/payload.yaml')));
  t.match(decodeDataUrl(described?.contents ?? {}).toString(), `"payloadSha256": "${digest}"`);

  const [, , , iso = [], ...waits] = commands;
  t.match(await run(iso), { exitCode: 2, stderr: /^sno: Creating an ISO needs xorriso/ });
  writeFileSync(
    join(cwd, 'D/auth/kubeconfig'),
    // A host name that does not exist: only the command line is tested.
    readFileSync(join(cwd, 'D/auth/kubeconfig'), 'utf8').replace(
      /server: .*/,
      'server: https://api.invalid:6443',
    ),
  );
  for (const args of waits) {
    t.match(await run([...args, '--timeout', '1s']), {
      exitCode: 3,
      stderr: /INFO Waiting up to 1s for/,
    });
  }
});
