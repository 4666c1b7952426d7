/** The report of the factory, signed by the real ssh-keygen with a key of the host, and the seal. */
import { existsSync, readdirSync } from 'node:fs';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import type { ValidateContext } from '../../agents/reconfigure/validate/context.ts';
import { kubernetesPlatform } from '../../agents/reconfigure/validate/kubernetes.ts';
import { writeReport } from '../../agents/reconfigure/validate/report.ts';
import { seal } from '../../agents/reconfigure/validate/seal.ts';
import type { NodeIps } from '../../lib/base/network/node-ips.ts';
import { hostFactsSchema } from '../../lib/config/site-config/host-facts.ts';
import {
  factoryReportSchema,
  REPORT_NAMESPACE,
  reportPaths,
} from '../../lib/relocation/relocatable/report.ts';
import { type TestHost, testHost } from '../unit/agents/host/host.ts';
import { killedAtAnyMoment } from '../unit/engine/steps/killed-at-any-moment.ts';
import { input } from '../unit/render/rendered-host.ts';

const skip =
  (await execa('ssh-keygen', ['-?'], { reject: false })).code === 'ENOENT' && 'no ssh-keygen';
const signal = AbortSignal.timeout(120_000);

const facts = {
  now: new Date('2030-01-02T00:00:00Z'),
  internalAddresses: ['192.0.2.10'] satisfies NodeIps,
  nodeName: 'edge-0',
  shippingDays: 30,
  unsteady: undefined,
  operators: { faults: [], notes: [] },
  unitImages: [],
  missingOnBridge: [],
  nodeAddresses: ['192.0.2.10'],
  nodes: ['edge-0'],
  apiEndpoints: ['192.0.2.10'],
  kubelet: { nodeIps: ['192.0.2.10'], nodeName: 'edge-0' },
  nodePortAddresses: undefined,
  pods: [],
  certificates: [],
  hardwareClock: undefined,
  isTimeSynchronized: true,
  clusterDns: [],
  apiService: '172.30.0.1',
  ownNames: [],
  otherFaults: [],
  otherNotes: [],
  arrival: { faults: [], notes: [] },
  versions: { kubernetes: input.host.versions.kubernetes },
  probes: [],
};

const OF_HOST = '/etc/ssh/ssh_host_ed25519_key';

/** A prepared host, with its own SSH key or without. */
async function preparedHost(t: Test, hasHostKey: boolean) {
  const host = testHost(t, { programs: 'real' });
  const context: ValidateContext = {
    ...host.context,
    id: 'one',
    policy: {
      schemaVersion: 1,
      internalAddress: '192.0.2.10',
      nodeName: 'edge-0',
      allowedSigners: [],
      unsignedAllowed: false,
      shippingDays: 30,
      recipient: 'age1q',
    },
    node: input,
    platform: kubernetesPlatform(host.context, input),
  };
  host.write('/sys/class/dmi/id/product_serial', 'SN-1\n');
  host.write('/etc/sno-agents/reconfigure/age-identity.txt', 'AGE-SECRET-KEY-1\n', 0o600);
  if (hasHostKey) {
    host.write(`${OF_HOST}.pub`);
    host.remove(`${OF_HOST}.pub`);
    await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', host.at(OF_HOST)]);
  }
  return { host, context };
}

t.test('interrupted, it is not signed before the rest of it is there', { skip }, async (t) => {
  const whole = Object.keys(reportPaths(testHost(t).paths)).length - 1;
  const filesOf = (host: TestHost) =>
    readdirSync(reportPaths(host.paths).folder).filter((name) => !name.startsWith('.'));
  await killedAtAnyMoment(t, {
    prepare: () => preparedHost(t, true),
    run: ({ context }) => writeReport(context, facts, [], signal),
    allowed({ host }, when) {
      const isSigned = existsSync(reportPaths(host.paths).signature);
      t.ok(!isSigned || filesOf(host).length === whole, when);
    },
    result: ({ host }) => filesOf(host).toSorted(),
    least: 10,
    isDurable: true,
    isConcurrent: true,
  });
});

for (const [whose, hasHostKey, wasKilled] of [
  ["the host's SSH key", true, false],
  ['a key of its own, where the host has none', false, false],
  ['a key of its own, after a run that was killed while it made one', false, true],
] as const) {
  t.test(`the report is signed by ${whose}`, { skip }, async (t) => {
    const { host, context } = await preparedHost(t, hasHostKey);
    const own = '/etc/sno-agents/reconfigure/report-key';
    if (wasKilled) host.write(own, 'half of it', 0o600);
    await writeReport(context, facts, [{ name: 'clock', faults: ['late'], notes: [] }], signal);
    const to = reportPaths(host.paths);
    const known = host.read(to.key);
    await writeReport(context, facts, [{ name: 'clock', faults: [], notes: [] }], signal);
    t.equal(host.read(to.key), known, 'who knows the key verifies later reports with it');
    if (!hasHostKey) t.equal(host.mode(own), 0o600);
    const report = factoryReportSchema.parse(JSON.parse(host.read(to.json)));
    t.match(report, {
      passed: true,
      kubernetes: input.host.versions.kubernetes,
      host: { recipient: 'age1q' },
    });
    t.match(report.host.identifiers, ['sn-1']);
    t.strictSame(hostFactsSchema.parse(JSON.parse(host.read(to.facts))), report.host);
    t.equal(hasHostKey ? host.read(`${OF_HOST}.pub`) : host.read(to.key), host.read(to.key));
    t.notMatch(host.read(to.json) + host.read(to.page), /AGE-SECRET|PRIVATE KEY/);

    const verify = async (text: string) => {
      host.write('/signers', `factory namespaces="${REPORT_NAMESPACE}" ${host.read(to.key)}`);
      const options = ['-f', host.at('/signers'), '-I', 'factory', '-n', REPORT_NAMESPACE];
      const args = ['-Y', 'verify', ...options, '-s', to.signature];
      const { exitCode } = await execa('ssh-keygen', args, { input: text, reject: false });
      return exitCode;
    };
    t.equal(await verify(host.read(to.json)), 0);
    t.not(await verify(host.read(to.json).replace('edge-0', 'edge-1')), 0, 'a changed report');

    t.equal(await seal.holds(context, host.progress()), false);
    await seal.run(context, host.progress());
    t.equal(await seal.holds(context, host.progress()), true);
    t.equal(host.mode('/etc/sno-agents/sealed'), 0o600);
    host.write(to.json, '{}');
    t.equal(await seal.holds(context, host.progress()), false, 'another report');
  });
}
