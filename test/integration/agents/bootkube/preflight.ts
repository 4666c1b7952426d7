import { X509Certificate } from 'node:crypto';
import { statfsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { addressCheck, hostnameCheck } from '../../../../agents/steps/preflight/identity.ts';
import {
  clockCheck,
  cpusCheck,
  diskCheck,
  judgeCpus,
  judgeSize,
  memoryCheck,
  ownDiskCheck,
  spaceOn,
} from '../../../../agents/steps/preflight/machine.ts';
import {
  liveChecks as checks,
  preflight as preflightOf,
} from '../../../../agents/steps/preflight/preflight.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import type { Failure } from '../../../../lib/base/errors/failure.ts';
import type { Partition } from '../../../../lib/host/disk.ts';
import {
  at,
  inputFor,
  ipv4,
  ipv6,
  NETWORKS,
  resolveBy,
} from '../../../unit/agents/bootkube/check-input.ts';
import { giveDisk } from '../../../unit/agents/host/disk.ts';
import { testHost } from '../../../unit/agents/host/host.ts';
import { giveAddresses } from '../../../unit/agents/host/network.ts';
import { writePayload } from '../../../unit/agents/host/payload.ts';

const preflight = preflightOf(checks);

t.test('one address of each family', async (t) => {
  const table: [string, ReturnType<typeof at>[], string[], RegExp][] = [
    ['both', [ipv4, ipv6], NETWORKS, /192\.0\.2\.10 on eth0 is configured; .*2001:db8::10 on eth0/],
    ['IPv6 alone', [ipv4, ipv6], ['2001:db8::/64'], /^the address 2001:db8::10/],
    ['IPv6 is missing', [ipv4], NETWORKS, /no IPv6 address of this host/],
    ['IPv4 is missing', [ipv6], NETWORKS, /no IPv4 address of this host/],
    [
      'a lease',
      [at('192.0.2.10', 24, { leaseSeconds: 60 })],
      ['192.0.2.0/24'],
      /^the address 192\.0\.2\.10 on eth0 is a DHCP lease, and must stay reserved/,
    ],
    [
      'two that are equal',
      [ipv4, ipv6, at('2001:db8::11', 64)],
      NETWORKS,
      /several addresses.*2001:db8::10, 2001:db8::11/,
    ],
  ];
  for (const [name, addresses, networks, expected] of table) {
    const finding = await addressCheck.run(inputFor(t, addresses, networks));
    t.match(finding.ok ? finding.fact : finding.problem, expected, name);
    t.equal(finding.ok, !/missing|equal/.test(name), name);
  }
});

t.test('the host name is final and valid for a Node', async (t) => {
  const table: [hostname: string, configured: string | undefined, ok: boolean, says: RegExp][] = [
    ['edge-0', undefined, true, /name is edge-0/],
    ['edge-0.example.test', undefined, true, /edge-0\.example\.test/],
    ['edge-0', 'edge-0', true, /edge-0/],
    ['edge-1', 'edge-0', false, /"edge-1", not "edge-0"/],
    ['', undefined, false, /not final/],
    ['localhost', undefined, false, /not final/],
    ['localhost.localdomain', undefined, false, /not final/],
    ['Edge_0', undefined, false, /RFC 1123/],
    ['-edge', undefined, false, /RFC 1123/],
    [`${'a'.repeat(64)}.test`, undefined, false, /RFC 1123/],
    [Array(60).fill('aaaa').join('.'), undefined, false, /RFC 1123/],
  ];
  for (const [hostname, configured, ok, says] of table) {
    const { cluster, ...input } = inputFor(t, [ipv4], ['192.0.2.0/24'], hostname);
    const more = configured === undefined ? {} : { hostname: configured };
    const finding = await hostnameCheck.run({ ...input, cluster: { ...cluster, ...more } });
    t.equal(finding.ok, ok, hostname);
    t.match(finding.ok ? finding.fact : finding.problem, says, hostname);
  }
});

t.test('the clock is within the lifetime of the certificates', async (t) => {
  const host = testHost(t);
  const input = { ...inputFor(t, [ipv4], NETWORKS), ...host.context, hostname: 'edge-0' };
  const { certificate } = await createAuthority('admin-ca');
  host.write('/opt/openshift/tls/admin-ca.crt', certificate);
  const openShift = testHost(t);
  openShift.write('/opt/openshift/tls/kubelet-signer.crt', certificate);
  const { cluster } = input;
  const onOpenShift = {
    ...input,
    paths: openShift.context.paths,
    cluster: { ...cluster, controlPlane: 'openshift' as const },
  };
  const { validFrom, validTo } = new X509Certificate(certificate);
  const [first, last] = [Date.parse(validFrom), Date.parse(validTo)];
  t.teardown(() => mock.timers.reset());
  const at = (now: number) => {
    mock.timers.reset();
    mock.timers.enable({ apis: ['Date'], now });
    return clockCheck.run(input);
  };
  const fix = /NTP/;
  t.match(await at(first - 1), { ok: false, problem: /before the Ignition/, fix });
  t.same(await at(first), { ok: true, fact: `the clock shows ${new Date(first).toISOString()}` });
  t.match(await at(last), { ok: true });
  t.match(await at(last + 1), { ok: false, problem: /after the certificates/, fix });
  t.match(await clockCheck.run(onOpenShift), { ok: false, problem: /after the certificates/ });
});

t.test('there is enough memory', async (t) => {
  const input = inputFor(t, [ipv4], NETWORKS);
  const needing = (minMemoryMiB: number) =>
    memoryCheck.run({ ...input, settings: { ...input.settings, minMemoryMiB } });
  const has = Math.floor(totalmem() / 2 ** 20);
  t.same(await needing(has), { ok: true, fact: `${has} MiB of memory` });
  t.match(await needing(has + 1), {
    ok: false,
    problem: `${has} MiB of memory, at least ${has + 1} MiB are needed`,
  });
});

t.test('the disk has room for the system and twice the payload', async (t) => {
  const need = { system: 8e9, payload: 1.5e9 };
  const judge = (space: number) => judgeSize('the disk /dev/vda', space, need, 'Set a larger disk');
  t.same(judge(9.5e9), { ok: true, fact: 'the disk /dev/vda has 9.5 GB' });
  t.same(judge(9.5e9 - 1), {
    ok: false,
    problem:
      'the disk /dev/vda is too small: expected 9.5 GB (8.0 GB for the system, 1.5 GB for the payload), found 9.5 GB',
    fix: 'Set a larger disk',
  });

  const any = inputFor(t, [ipv4], NETWORKS);
  const host = testHost(t, { settings: { minDiskGB: 1 } });
  const input = { ...any, ...host.context, hostname: 'edge-0' };
  // 1073.7 MB.
  giveDisk(host, { sizeMiB: 1024 });
  t.match(await diskCheck.run(input), { ok: true }, 'nothing is fetched yet');
  writePayload(host, '/run/media/iso/sno-agents/payload', 'k'.repeat(40_000_000));
  t.match(await diskCheck.run(input), {
    ok: false,
    problem: /expected 1\.1 GB.*found 1\.1 GB/,
    fix: /installationDisk/,
  });
});

t.test("an all-in-one host's own disk has room for the system and twice the payload", async (t) => {
  const host = testHost(t);
  host.write('/var/lib/sno-agents/any');
  const { blocks, bsize } = statfsSync(host.context.paths.state);
  // 50 MB are left for a payload, which takes 80 MB.
  const settings = { ...host.context.settings, minDiskGB: (blocks * bsize) / 1e9 - 0.05 };
  const { cluster, ...any } = inputFor(t, [ipv4], NETWORKS);
  const input = { ...any, ...host.context, cluster, settings, hostname: 'edge-0' };
  t.match(await ownDiskCheck.run(input), { ok: true, fact: /sno-agents has \d/ }, 'to be fetched');
  writePayload(host, '/run/media/iso/sno-agents/payload', 'k'.repeat(40_000_000));
  t.match(await ownDiskCheck.run(input), {
    ok: false,
    problem: /sno-agents is too small: .*0\.1 GB for the payload/,
    fix: /larger disk/,
  });
});

t.test('in place, that disk is where the executable is: the rest is in memory', async (t) => {
  const host = testHost(t);
  host.write('/var/lib/sno-agents/bin/sno-agents');
  const { cluster, ...any } = inputFor(t, [ipv4], NETWORKS);
  const input = { ...any, ...host.context, hostname: 'edge-0' };
  t.match(await ownDiskCheck.run({ ...input, cluster }), { fact: /\/sno-agents has \d/ });
  const inPlace = { ...cluster, inPlace: true } as const;
  t.match(await ownDiskCheck.run({ ...input, cluster: inPlace }), {
    fact: /\/sno-agents\/bin has \d/,
  });
});

t.test('CPUs are reserved that the host has, and one is left for workloads', async (t) => {
  const table: [online: string, reserved: string | undefined, ok: boolean, says: RegExp][] = [
    ['0-3', undefined, true, /none reserved/],
    ['0-3', '0-1', true, /0-1 of 0-3/],
    ['0,2-3', '0,3', true, /0,3 of 0,2-3/],
    ['0,2-3', '0-1', false, /0-1 are to be reserved, the host has 0,2-3/],
    ['0-3', '4', false, /the host has 0-3/],
    ['0-1', '0-1', false, /none is left/],
    ['0', '0', false, /none is left/],
  ];
  for (const [online, reserved, ok, says] of table) {
    const finding = judgeCpus(online, reserved);
    t.match(finding.ok ? finding.fact : finding.problem, says, `${reserved} of ${online}`);
    t.equal(finding.ok, ok, `${reserved} of ${online}`);
  }
  const { cluster, ...input } = inputFor(t, [ipv4], NETWORKS);
  const finding = await cpusCheck.run({ ...input, cluster: { ...cluster, reservedCpus: '9999' } });
  t.match(finding, { ok: false, problem: /^CPUs 9999 / }, 'this machine has fewer');
});

t.test('the space on a disk ends where a preserved partition starts', async (t) => {
  const disk = (...children: Partition[]) => ({ size: 100, pttype: 'gpt', children });
  const partition = (number: number, startBytes?: number): Partition => ({
    ...{ path: `/dev/vda${number}`, kname: `vda${number}`, type: 'part', size: 10, number },
    ...{ label: null, fstype: null, pttype: null, partlabel: 'data', parttype: null },
    partuuid: null,
    ...(startBytes === undefined ? {} : { startBytes }),
  });
  const table: [title: string, Parameters<typeof spaceOn>[0], indexes: string[], number][] = [
    ['nothing is kept', disk(partition(1, 30)), [], 100],
    ['one is kept', disk(partition(1, 30), partition(2, 60)), ['2'], 60],
    ['the first of those that are kept', disk(partition(1, 30), partition(2, 60)), ['1-2'], 30],
    ['one whose place is not known', disk(partition(1)), ['1'], 100],
  ];
  for (const [title, given, indexes, space] of table) {
    t.equal(spaceOn(given, { labels: [], indexes }), space, title);
  }
});

t.test('preflight', async (t) => {
  // That of sealed keys is never only a warning.
  const warnable = checks.flatMap(({ name }) =>
    name === 'seal' || name === 'dns-search' ? [] : [name],
  );

  /** A host that passes every check. */
  const good = async (t: Test) => {
    const host = testHost(t, { settings: { minMemoryMiB: 1, minDiskGB: 8 } });
    giveAddresses(host, '192.0.2.10/24');
    giveDisk(host, { sizeMiB: 32_768 });
    const { certificate } = await createAuthority('admin-ca');
    host.write('/opt/openshift/tls/admin-ca.crt', certificate);
    return host;
  };

  t.test('passes on a host that has everything, and reports the facts', async (t) => {
    const host = await good(t);
    resolveBy(t, async () => ['192.0.2.10']);
    t.same(await host.run(preflight), { kind: 'done', note: `${checks.length} checks` });
    const logged = host.lines.join('');
    for (const { name } of checks) t.match(logged, `Checked ${name}: `, name);
    t.match(logged, /Checked address: the address 192\.0\.2\.10 on eth0/);
    t.match(logged, /Checked disk: the disk \/dev\/vda has 34\.4 GB/);
  });

  t.test('does not wait for name servers that hang: everything else is reported', async (t) => {
    const host = await good(t);
    resolveBy(t, () => new Promise(() => {}));
    t.capture(AbortSignal, 'timeout', () => AbortSignal.abort(new Error('late')));
    const progress = host.progress(new AbortController().signal);
    await t.rejects(
      preflight.run(host.context, progress),
      /dns-hostname: .*did not answer in time/,
    );
  });

  t.test('ends when it is told to stop', async (t) => {
    const host = await good(t);
    const stop = new AbortController();
    resolveBy(t, () => new Promise(() => void setImmediate(() => stop.abort())));
    await t.rejects(preflight.run(host.context, host.progress(stop.signal)));
  });

  t.test('runs every check, and lists each failed one as a part', async (t) => {
    const host = testHost(t, { hostname: 'localhost' });
    giveAddresses(host);
    const failure = await preflight.run(host.context, host.progress()).catch((error) => error);
    t.match(failure, { kind: 'retry', code: 'preflight', details: { fix: /preflightWarnings/ } });
    t.match(failure.message, new RegExp(`of ${checks.length} checks failed`));
    t.match(failure.message, /clock: the check itself failed: .*admin-ca\.crt/);
    const parts: Failure[] = failure.details.parts;
    t.same(new Set(parts.map(({ kind }) => kind)), new Set(['retry']));
    const codes: string[] = parts.map(({ code }) => code);
    for (const name of ['hostname', 'address', 'clock', 'disk']) {
      t.match(failure.message, `${name}: `, name);
      t.ok(codes.includes(`preflight-${name}`), name);
    }
    t.match(
      parts.find(({ code }) => code === 'preflight-hostname'),
      { what: /localhost/, details: { fix: /bootstrapInPlace\.hostname/ } },
    );
    t.match(
      parts.find(({ code }) => code === 'dns-record-missing'),
      { details: { subject: 'api.edge.example.test' } },
    );
    t.equal(host.lines.length, 0, 'what passed is not logged again with every attempt');
  });

  t.test('a failure of each check can be made a warning', async (t) => {
    const host = testHost(t, { hostname: 'localhost', cluster: { preflightWarnings: warnable } });
    giveAddresses(host);
    t.same(await host.run(preflight), { kind: 'done', note: `${checks.length} checks` });
    t.match(host.lines.join(''), /Check hostname failed: .*localhost.*bootstrapInPlace\.hostname/);
    t.match(
      host.lines.join(''),
      /Checked network: the network is configured by the operating system/,
    );
    t.equal(await host.holds(preflight), true);
  });

  t.test('a check that is not made a warning fails alone', async (t) => {
    const preflightWarnings = warnable.filter((name) => name !== 'hostname');
    const host = testHost(t, { hostname: 'localhost', cluster: { preflightWarnings } });
    giveAddresses(host);
    t.match(await host.failureOf(preflight), {
      message: /^1 of \d+ checks failed; found hostname/,
    });
  });
});
