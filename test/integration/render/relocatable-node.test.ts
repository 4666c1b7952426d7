/** What makes a node of OpenShift relocatable, as the programs that read it see it. */
import { Resolver } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { startDaemon } from '../../../lab/servers/daemon.ts';
import { freePort } from '../../../lab/servers/free-port.ts';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { isInstalled } from '../../../lib/host/search-path.ts';
import { bridgeFiles, bridgeScriptPath } from '../../../lib/relocation/relocatable/bridge.ts';
import { nodeDns, nodeDnsPath, siteDns } from '../../../lib/relocation/relocatable/local-dns.ts';
import { relocatableManifest } from '../../../lib/relocation/relocatable/machine-config.ts';
import { configSchema } from '../../../lib/render/ignition/config.ts';

const PROGRAM_MS = 30_000;
const SYSTEM_UNITS = '/lib/systemd/system';
const VALIDATOR = '/usr/bin/ignition-validate';
const node = { address: '192.0.2.10', nodeName: 'edge-0', clusterDomain: 'sno.factory.test' };
const config = configSchema.parse(relocatableManifest(node).spec.config);
/** As a node of assisted-service gets it, whose own name server it replaces. */
const ofAssisted = configSchema.parse(
  relocatableManifest({ ...node, replacesAssistedDns: true }).spec.config,
);

const contentsOf = (path: string, from = config): string => {
  const file = from.storage?.files?.find((each) => each.path === path);
  return file?.contents === undefined ? '' : decodeDataUrl(file.contents).toString();
};

const needs = async (program: string) => !(await isInstalled(program)) && `needs ${program}`;

t.test('Ignition', { skip: !existsSync(VALIDATOR) && 'needs ignition-validate' }, async (t) => {
  const path = join(t.testdir(), 'node.ign');
  for (const each of [config, ofAssisted]) {
    await writeFile(path, JSON.stringify(each));
    await t.resolves(execa(VALIDATOR, [path], { timeout: PROGRAM_MS }));
  }
});

t.test('the drop-ins of units', { skip: await needs('systemd-analyze') }, async (t) => {
  const root = t.testdir();
  const units = join(root, 'etc/systemd/system');
  await cp(SYSTEM_UNITS, join(root, SYSTEM_UNITS), { recursive: true, verbatimSymlinks: true });
  for (const path of ['bin/program', 'usr/sbin/dnsmasq', 'usr/local/bin/dnsmasq_config.sh']) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), '#!/bin/sh\n');
    await chmod(join(root, path), 0o755);
  }
  const all = [config, ofAssisted].flatMap(({ systemd }) => systemd?.units ?? []);
  for (const { name, contents = '[Service]\nExecStart=/bin/program\n', dropins = [] } of all) {
    await mkdir(join(units, `${name}.d`), { recursive: true });
    await writeFile(join(units, name), contents);
    for (const each of dropins) {
      await writeFile(join(units, `${name}.d`, each.name), each.contents ?? '');
    }
    const args = ['verify', '--man=no', '--recursive-errors=no', `--root=${root}`, name];
    const { all, exitCode } = await execa('systemd-analyze', ['--no-pager', ...args], {
      ...{ all: true, reject: false, timeout: PROGRAM_MS },
    });
    t.strictSame({ exitCode, all }, { exitCode: 0, all: '' }, name);
  }
});

t.test(
  'the scripts that replace those of assisted-service, which run under the same names',
  async (t) => {
    const folder = t.testdir({ 'single-node.conf': 'address=/apps.sno.factory.test/192.0.2.10\n' });
    const script = contentsOf('/usr/local/bin/dnsmasq_config.sh', ofAssisted);
    const local = script.replaceAll('/etc/dnsmasq.d', folder);
    t.not(local, script);
    await execa('sh', ['-c', local], { timeout: PROGRAM_MS });
    t.notOk(existsSync(join(folder, 'single-node.conf')), 'its names are gone');
    await t.resolves(execa('sh', ['-c', local], { timeout: PROGRAM_MS }), 'again');
    const forced = contentsOf('/etc/NetworkManager/dispatcher.d/forcedns', ofAssisted);
    // Any other first line, and the machine-config operator runs it itself.
    t.equal(forced.split('\n')[0], '#!/bin/bash');
    await t.resolves(
      execa('sh', ['-c', forced, 'forcedns', 'br-ex', 'up'], { timeout: PROGRAM_MS }),
    );
  },
);

/** By the script, the bridge and the call that it makes of ip. */
const addressScripts: readonly [script: string, bridge: string, call: string][] = [
  [
    contentsOf('/etc/NetworkManager/dispatcher.d/pre-up.d/50-sno-internal-address'),
    'br-ex',
    'address replace 192.0.2.10/32 dev br-ex',
  ],
  [
    bridgeFiles(['fd00::10']).find(({ path }) => path === bridgeScriptPath)?.contents ?? '',
    'br-node',
    '-6 address replace fd00::10/128 dev br-node nodad',
  ],
];

for (const [contents, bridge, call] of addressScripts) {
  t.test(`the address on ${bridge}, before it is up`, async (t) => {
    const root = t.testdir();
    const script = join(root, 'script');
    await writeFile(script, contents);
    await writeFile(join(root, 'ip'), `#!/bin/sh\necho "$*" >> ${root}/calls\n`);
    await chmod(join(root, 'ip'), 0o755);
    const dispatch = (...args: string[]) =>
      execa('sh', [script, ...args], { timeout: PROGRAM_MS, env: { PATH: `${root}:/bin` } });
    await dispatch('eno1', 'pre-up');
    await dispatch(bridge, 'up');
    t.notOk(existsSync(join(root, 'calls')));
    await dispatch(bridge, 'pre-up');
    t.equal(await readFile(join(root, 'calls'), 'utf8'), `${call}\n`);
  });
}

t.test('at a site, the bridge of the pod network is not made of the internal one', async (t) => {
  const unit = config.systemd?.units?.find(({ name }) => name === 'nodeip-configuration.service');
  // What the handover writes into its EnvironmentFile (agents/bootkube/handover/installed-host.ts).
  t.match(unit?.dropins?.[0]?.contents, /^UnsetEnvironment=NODEIP_HINT KUBELET_NODEIP_HINT$/m);
});

/** dnsmasq on loopback; the lines of a configuration that name files of the host are exchanged. */
async function answers(t: Test, text: string, upstream: number | undefined) {
  const port = await freePort();
  const folder = t.testdir();
  const path = join(folder, nodeDnsPath);
  await mkdir(dirname(path), { recursive: true });
  const source = upstream === undefined ? [] : [`server=127.0.0.1#${upstream}`];
  const local = text
    .replace(/^resolv-file=.*$/m, '')
    .replace('listen-address=192.0.2.10', 'listen-address=127.0.0.1');
  await writeFile(path, [local, 'no-resolv', `port=${port}`, ...source, ''].join('\n'));
  await t.resolves(execa('dnsmasq', ['--test', `--conf-file=${path}`], { timeout: PROGRAM_MS }));
  const daemon = startDaemon(
    'dnsmasq',
    ['--keep-in-foreground', `--conf-file=${path}`, '--pid-file=', '--user=root'],
    join(folder, 'log'),
    PROGRAM_MS * 2,
  );
  t.teardown(() => daemon.stop());
  const resolver = new Resolver({ timeout: 1000, tries: 10 });
  resolver.setServers([`127.0.0.1:${port}`]);
  const until = Date.now() + PROGRAM_MS;
  const isUp = () =>
    resolver.resolve4('localhost.test').then(
      () => true,
      ({ code }: { code?: string }) => code !== 'ECONNREFUSED',
    );
  while (!(await isUp()) && Date.now() < until) await sleep(100);
  return { port, resolver };
}

t.test('its name server', { skip: await needs('dnsmasq') }, async (t) => {
  const network = await answers(
    t,
    'listen-address=192.0.2.10\nbind-dynamic\naddress=/registry.test/198.51.100.7\n',
    undefined,
  );
  await t.test('at the site', async (t) => {
    const text = nodeDns(node.address, node.clusterDomain) + siteDns(node.address, 'sno.site.test');
    const { resolver } = await answers(t, text, network.port);
    for (const domain of ['sno.factory.test', 'sno.site.test']) {
      for (const name of ['api', 'api-int', 'console-openshift-console.apps', 'apps']) {
        t.same(await resolver.resolve4(`${name}.${domain}`), ['192.0.2.10'], `${name}.${domain}`);
      }
      await t.rejects(resolver.resolve6(`api.${domain}`), { code: 'ENODATA' }, 'no IPv6');
    }
    t.same(await resolver.resolve4('registry.test'), ['198.51.100.7'], 'the rest from the network');
  });
});
