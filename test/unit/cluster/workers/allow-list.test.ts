import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import fsp from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readAllowList } from '../../../../lib/cluster/workers/allow-list.ts';
import { readEntry } from '../../../../lib/cluster/workers/entry.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { captureBuiltins } from '../../host/builtins.ts';

const cluster = {
  ownName: 'edge-0',
  clusterDomain: 'edge.example.com',
  ownAddresses: ['192.0.2.10', '192.0.2.11', '2001:db8::10'],
  apiNames: ['k8s.example.org'],
  machineNetwork: ['192.0.2.0/24', '2001:db8::/64'],
  now: new Date('2030-01-01T00:00:00Z'),
};
const right = 'name: worker-0\naddresses: [192.0.2.20]\nexpires: 2030-01-02T00:00:00Z\n';
const key = 'ab'.repeat(32);

t.test('an entry', async (t) => {
  t.same(readEntry(right, cluster), {
    worker: {
      name: 'worker-0',
      addresses: ['192.0.2.20'],
      expires: new Date('2030-01-02T00:00:00Z'),
    },
  });
  const both = right.replace('[192.0.2.20]', '[192.0.2.20, "2001:DB8:0::20"]');
  t.match(readEntry(`${both}keyFingerprint: sha256:${key}\n`, cluster), {
    worker: { addresses: ['192.0.2.20', '2001:db8::20'], keySha256: key },
  });
  t.match(
    readEntry(right.replace('00:00:00Z', '01:00:00+01:00'), cluster),
    { worker: { expires: new Date('2030-01-02T00:00:00Z') } },
    'a time of another zone',
  );
  const others = [
    'kubernetes-0',
    'kubernetes.default.example.com',
    'my.kubernetes',
    'myapps.edge.example.com',
  ];
  for (const name of ['edge-0.example.org', 'edge-1', 'api', 'apps.example.com', ...others]) {
    t.ok('worker' in readEntry(right.replace('worker-0', name), cluster), name);
  }
  const named = { ...cluster, ownName: 'edge-0.example.org' };
  t.match(readEntry(right.replace('worker-0', 'edge-0'), named), { faults: [/a name of the/] });
  t.ok('worker' in readEntry(right.replace('worker-0', 'edge-0.example.com'), named), 'of its own');
  const most = Array.from({ length: 8 }, (_, at) => `192.0.2.2${at}`).join();
  t.ok('worker' in readEntry(right.replace('192.0.2.20', most), cluster), 'eight addresses');
  t.ok('worker' in readEntry(right.replace('2030-01-02', '2030-01-15'), cluster), 'two weeks');
  t.ok('worker' in readEntry(right.replace('2030-01-02', '2029-01-01'), cluster), 'expired');
});

t.test('every fault of an entry is named, with its field', async (t) => {
  const rows: [text: string, faults: RegExp[]][] = [
    ['', [/expected a mapping/]],
    ['- a\n', [/expected a mapping/]],
    ['{}', [/^name: /, /^addresses: /, /^expires: /]],
    [right.replace('worker-0', 'Worker_0'), [/^name: expected a host name/]],
    [right.replace('worker-0', 'localhost'), [/^name: /]],
    [`${right}---\n{}\n`, [/^it is not one YAML document: [^;]* multiple documents$/]],
    ...['192.0.2.0', '192.0.2.255', '"2001:db8::"'].map((end): [string, RegExp[]] => [
      right.replace('192.0.2.20', end),
      [/^addresses\.0: expected an address of a host, not one of the network itself$/],
    ]),
    [right.replace('worker-0', 'edge-0'), [/^name: it is the node of the control plane$/]],
    ...[
      ...['edge-0.edge.example.com', 'edge-0.example.com', 'api.edge.example.com'],
      ...['api-int.edge.example.com', 'console.apps.edge.example.com', 'edge.example.com'],
      ...['apps.edge.example.com', 'edge-0.com', 'kubernetes.default', 'k8s.example.org'],
      ...['kubernetes', 'kubernetes.default.svc.cluster.local'],
    ].map((name): [string, RegExp[]] => [
      right.replace('worker-0', name),
      [/^name: it is a name of the control plane$/],
    ]),
    ...['192.0.2.10', '192.0.2.11', '"2001:DB8:0::10"'].map((address): [string, RegExp[]] => [
      right.replace('192.0.2.20', `192.0.2.20, ${address}`),
      [/^addresses\.1: it is an address of the control plane$/],
    ]),
    [right.replace('worker-0', '[worker-0]'), [/^name: /]],
    [right.replace('[192.0.2.20]', '[]'), [/^addresses: expected at least one/]],
    [right.replace('[192.0.2.20]', '192.0.2.20'), [/^addresses: /]],
    [right.replace('192.0.2.20', '192.0.2.300'), [/^addresses\.0: expected an IPv4 or IPv6/]],
    [right.replace('192.0.2.20', '192.0.2.020'), [/^addresses\.0: /]],
    [right.replace('192.0.2.20', '198.51.100.1'), [/^addresses\.0: expected an address in 192/]],
    [right.replace('192.0.2.20', '127.0.0.1'), [/^addresses\.0: /]],
    [right.replace('192.0.2.20', '192.0.2.20, 192.0.2.20'), [/^addresses: an address is repeated/]],
    [
      right.replace('192.0.2.20', Array.from({ length: 9 }, (_, at) => `192.0.2.2${at}`).join()),
      [/^addresses: expected at most 8 addresses/],
    ],
    [right.replace('Z', ''), [/^expires: expected a time with its zone/]],
    [right.replace('2030-01-02', '2030-01-16'), [/^expires: expected a time within 14 days/]],
    [right.replace('2030-01-02T00:00:00Z', '1893542400'), [/^expires: /]],
    [`${right}keyFingerprint: ${key}\n`, [/^keyFingerprint: expected sha256:/]],
    [`${right}keyFingerprint: sha256:${key.toUpperCase()}\n`, [/^keyFingerprint: /]],
    [`${right}approve: all\n`, [/approve/]],
    [`${right}name: worker-1\n`, [/not one YAML document/]],
    [`${right}---\n${right}`, [/not one YAML document/]],
    [`a: &a [x]\nname: *a\n`, [/expected a mapping/]],
    [`${right}x: !!js/function y\n`, [/not one YAML document|x/]],
    ['name: [\n', [/not one YAML document/]],
    [right.replace(']', ']#no comment'), [/not one YAML document/]],
    [right.replace('[', '[\n'), [/not one YAML document/]],
    [right.replace('worker-0', '!!binary d29ya2VyLTA='), [/not one YAML document/]],
    [
      'name: worker_1\naddresses: [x]\nexpires: never\nkeyFingerprint: y\n',
      [...[/^name: /, /^addresses\.0: /, /^expires: /, /^keyFingerprint: /]],
    ],
  ];
  for (const [text, expected] of rows) {
    const result = readEntry(text, cluster);
    const faults = 'faults' in result ? result.faults : [];
    for (const each of expected)
      t.ok(
        faults.some((fault) => each.test(fault)),
        `${each}: ${faults}`,
      );
  }
  t.same(
    readEntry(right.replace('worker-0', 'edge-0'), cluster),
    { faults: ['name: it is the node of the control plane'] },
    'each fault once',
  );
  const { faults } = { faults: [], ...readEntry('name: [a secret\n', cluster) };
  t.notMatch(faults.join(), /secret/, 'without the text of the file');
});

function folderWith(t: Test, files: Readonly<Record<string, string>>) {
  const paths = hostPaths(t.testdir());
  const folder = join(paths.config, 'workers.d');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  }
  return { paths, folder, read: () => readAllowList(paths, cluster) };
}

/** With a comment before it, in that many bytes. */
const padded = (text: string, bytes: number) => `#${'x'.repeat(bytes - text.length - 2)}\n${text}`;

const worker = (name: string, address: string) =>
  right.replace('worker-0', name).replace('192.0.2.20', address);

t.test('the list', async (t) => {
  t.test('has the workers of all files, and nothing without a folder', async (t) => {
    t.same(await readAllowList(hostPaths(t.testdir()), cluster), { workers: [], faults: [] });
    const { read } = folderWith(t, {
      'a.yaml': `${worker('worker-0', '192.0.2.20')}keyFingerprint: sha256:${key}\n`,
      'b.yaml': `${worker('worker-1', '192.0.2.21')}keyFingerprint: sha256:${'cd'.repeat(32)}\n`,
      '.a.yaml.swp': 'not read',
      '.b.yaml': 'not read',
      'a.yaml~': 'not read',
    });
    const { workers, faults } = await read();
    t.same(
      workers.map(({ name }) => name),
      ['worker-0', 'worker-1'],
    );
    t.same(faults, []);
  });

  t.test('a faulty file allows nothing and does not hold up the others', async (t) => {
    const { read, folder } = folderWith(t, {
      'a.yaml': 'name: x\n',
      'b.yaml': worker('worker-1', '192.0.2.21'),
      'c.yml': worker('worker-2', '192.0.2.22'),
      'd.yaml': padded(worker('worker-3', '192.0.2.23'), 16_385),
      'e.yaml': worker('worker-4', '192.0.2.24'),
      'h.yaml': padded(worker('worker-5', '192.0.2.25'), 16_384),
      'i.yaml': worker('worker-6', '192.0.2.26'),
      'j.yaml': worker('worker-7', '192.0.2.27'),
    });
    execFileSync('mkfifo', ['-m', '600', join(folder, 'k.yaml')]);
    if (process.getuid?.() === 0) chownSync(join(folder, 'i.yaml'), 65_534, 0);
    else unlinkSync(join(folder, 'i.yaml'));
    mkdirSync(join(folder, 'f.yaml'));
    symlinkSync(join(folder, 'b.yaml'), join(folder, 'g.yaml'));
    chmodSync(join(folder, 'e.yaml'), 0o620);
    chmodSync(join(folder, 'j.yaml'), 0o602);
    chmodSync(join(folder, 'h.yaml'), 0o644);
    const { workers, faults } = await read();
    t.same(
      workers.map(({ name }) => name),
      ['worker-1', 'worker-5'],
    );
    for (const expected of [
      ...(process.getuid?.() === 0 ? [/i\.yaml: it belongs to user 65534, not 0$/] : []),
      /a\.yaml: addresses: /,
      /a\.yaml: expires: /,
      /c\.yml: its name must end in \.yaml$/,
      /d\.yaml: it has more than 16384 bytes$/,
      /e\.yaml: it can be written by other users$/,
      /f\.yaml: it is not a regular file$/,
      /g\.yaml: .*ELOOP/,
      /j\.yaml: it can be written by other users$/,
      /k\.yaml: it is not a regular file$/,
    ]) {
      t.ok(
        faults.some((fault) => expected.test(fault)),
        `${expected}`,
      );
    }
  });

  t.test('a file that is deleted while the list is read is no fault', async (t) => {
    const { read, folder } = folderWith(t, {
      'a.yaml': worker('worker-0', '192.0.2.20'),
      'b.yaml': worker('worker-1', '192.0.2.21'),
    });
    const { open } = fsp;
    captureBuiltins(t, () => {
      t.capture(fsp, 'open', (path: string, flags: number) => {
        if (path.endsWith('/a.yaml')) unlinkSync(join(folder, 'a.yaml'));
        return open(path, flags);
      });
    });
    t.match(await read(), { workers: [{ name: 'worker-1' }], faults: [] });
  });

  t.test('two files for the same worker allow neither', async (t) => {
    const rows = [
      [worker('worker-0', '192.0.2.20'), worker('worker-0', '192.0.2.21'), /name: worker-0 is in/],
      [worker('worker-0', '192.0.2.20'), worker('worker-1', '192.0.2.20'), /192\.0\.2\.20 is in/],
      [
        `${worker('worker-0', '192.0.2.20')}keyFingerprint: sha256:${key}\n`,
        `${worker('worker-1', '192.0.2.21')}keyFingerprint: sha256:${key}\n`,
        /keyFingerprint: this key is in/,
      ],
    ] as const;
    for (const [index, [one, other, expected]] of rows.entries()) {
      await t.test(`${index}`, async (t) => {
        const { read } = folderWith(t, {
          'a.yaml': one,
          'b.yaml': other,
          'c.yaml': worker('c', '192.0.2.9'),
        });
        const { workers, faults } = await read();
        t.same(
          workers.map(({ name }) => name),
          ['c'],
        );
        t.equal(faults.length, 2);
        t.ok(
          faults.every((fault) => expected.test(fault)),
          faults.join('; '),
        );
      });
    }
  });

  t.test('a folder that cannot be read allows nothing', async (t) => {
    const { folder, read } = folderWith(t, {});
    rmdirSync(folder);
    symlinkSync('workers.d', folder);
    t.match(await read(), { workers: [], faults: [/workers\.d: .*ELOOP/] });
  });

  t.test('a folder with too many files allows nothing', async (t) => {
    const many = Array.from({ length: 257 }, (_, at) => [`w${at}.yaml`, worker('w', '192.0.2.9')]);
    const { read } = folderWith(t, Object.fromEntries(many));
    t.match(await read(), { workers: [], faults: [/at most 256 files; found 257/] });
    const { read: most } = folderWith(t, Object.fromEntries(many.slice(1)));
    t.notMatch((await most()).faults.join(), /at most/);
  });
});
