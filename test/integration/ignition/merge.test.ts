import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { isRecord } from '../../../lib/base/json.ts';
import { configSchema, type IgnitionConfig } from '../../../lib/render/ignition/config.ts';
import { dataUrl } from '../../../lib/render/ignition/data-url.ts';
import { mergeConfigs } from '../../../lib/render/ignition/merge.ts';
import { type Case, laterCases } from './merge-cases.ts';

/** Path of the program for Ignition's stages in Debian's package. */
const IGNITION = '/usr/lib/dracut/modules.d/30ignition/ignition';

const a = { source: 'data:,a' };
const b = { source: 'data:,b' };

const CASES: readonly Case[] = [
  {
    name: 'a file of the child wins, field by field',
    parent: { storage: { files: [{ path: '/f', mode: 384, contents: a }] } },
    child: { storage: { files: [{ path: '/f', contents: b }] } },
    merged: { storage: { files: [{ path: '/f', mode: 384, contents: b }] } },
  },
  {
    name: 'the compression of the parent is inherited, to no good',
    parent: { storage: { files: [{ path: '/f', contents: { ...a, compression: 'gzip' } }] } },
    child: { storage: { files: [{ path: '/f', contents: b }] } },
    merged: { storage: { files: [{ path: '/f', contents: { ...b, compression: 'gzip' } }] } },
  },
  {
    name: 'no compression, said so, wins',
    parent: { storage: { files: [{ path: '/f', contents: { ...a, compression: 'gzip' } }] } },
    child: { storage: { files: [{ path: '/f', contents: { ...b, compression: '' } }] } },
    merged: { storage: { files: [{ path: '/f', contents: { ...b, compression: '' } }] } },
  },
  {
    name: 'other paths are kept, the parent before the child',
    parent: {
      storage: {
        files: [
          { path: '/z', contents: a },
          { path: '/y', contents: a },
        ],
      },
    },
    child: {
      storage: {
        files: [
          { path: '/x', contents: b },
          { path: '/y', contents: b },
        ],
      },
    },
    merged: {
      storage: {
        files: [
          { path: '/z', contents: a },
          { path: '/y', contents: b },
          { path: '/x', contents: b },
        ],
      },
    },
  },
  {
    name: 'a file takes the place of a directory',
    parent: { storage: { directories: [{ path: '/p', mode: 448 }, { path: '/q' }] } },
    child: { storage: { files: [{ path: '/p', contents: b }] } },
    merged: { storage: { directories: [{ path: '/q' }], files: [{ path: '/p', contents: b }] } },
  },
  {
    name: 'a directory takes the place of a link',
    parent: {
      storage: {
        links: [
          { path: '/p', target: '/x' },
          { path: '/q', target: '/x' },
        ],
      },
    },
    child: { storage: { directories: [{ path: '/p' }] } },
    merged: { storage: { links: [{ path: '/q', target: '/x' }], directories: [{ path: '/p' }] } },
  },
  {
    name: 'what is appended adds up',
    parent: { storage: { files: [{ path: '/f', append: [a] }] } },
    child: { storage: { files: [{ path: '/f', append: [a, b] }] } },
    merged: { storage: { files: [{ path: '/f', append: [a, a, b] }] } },
  },
  {
    name: 'units and their drop-ins',
    parent: {
      systemd: {
        units: [
          {
            name: 'a.service',
            enabled: true,
            contents: '[Unit]\n',
            dropins: [
              { name: '1.conf', contents: '[Unit]\n' },
              { name: '2.conf', contents: '' },
            ],
          },
          { name: 'b.service', mask: true },
        ],
      },
    },
    child: {
      systemd: {
        units: [
          { name: 'c.service', mask: true },
          {
            name: 'a.service',
            enabled: false,
            dropins: [{ name: '2.conf', contents: '[Unit]\n' }],
          },
        ],
      },
    },
    merged: {
      systemd: {
        units: [
          {
            name: 'a.service',
            enabled: false,
            contents: '[Unit]\n',
            dropins: [
              { name: '1.conf', contents: '[Unit]\n' },
              { name: '2.conf', contents: '[Unit]\n' },
            ],
          },
          { name: 'b.service', mask: true },
          { name: 'c.service', mask: true },
        ],
      },
    },
  },
  {
    name: 'users: keys and groups are united',
    parent: { passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['1', '2'], groups: ['g'] }] } },
    child: {
      passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['2', '3'], shell: '/bin/sh' }] },
    },
    merged: {
      passwd: {
        users: [
          { name: 'core', sshAuthorizedKeys: ['1', '2', '3'], groups: ['g'], shell: '/bin/sh' },
        ],
      },
    },
  },
  {
    name: 'filesystems go by their device, partitions by their number',
    parent: {
      storage: {
        filesystems: [{ device: '/dev/a', path: '/p', format: 'ext4', options: ['x'] }],
        disks: [{ device: '/dev/b', partitions: [{ number: 1, label: 'l' }] }],
      },
    },
    child: {
      storage: {
        filesystems: [{ device: '/dev/a', path: '/q', format: 'xfs', options: ['y'] }],
        disks: [{ device: '/dev/b', wipeTable: true, partitions: [{ number: 1, label: 'm' }] }],
      },
    },
    merged: {
      storage: {
        filesystems: [{ device: '/dev/a', path: '/q', format: 'xfs', options: ['x', 'y'] }],
        disks: [{ device: '/dev/b', wipeTable: true, partitions: [{ number: 1, label: 'm' }] }],
      },
    },
  },
  {
    // Ignition concatenates both lists, including duplicates.
    name: 'options and mount options add up',
    parent: {
      storage: {
        filesystems: [
          { device: '/dev/a', format: 'xfs', options: ['-f'], mountOptions: ['noatime'] },
        ],
      },
    },
    child: {
      storage: {
        filesystems: [
          {
            device: '/dev/a',
            format: 'xfs',
            options: ['-f', '-K'],
            mountOptions: ['noatime', 'discard'],
          },
        ],
      },
    },
    merged: {
      storage: {
        filesystems: [
          {
            device: '/dev/a',
            format: 'xfs',
            options: ['-f', '-f', '-K'],
            mountOptions: ['noatime', 'noatime', 'discard'],
          },
        ],
      },
    },
  },
];

for (const { name, parent, child, merged } of laterCases) {
  t.test(name, async (t) => {
    const full = (sections: Record<string, unknown>) =>
      configSchema.parse({
        ...sections,
        ignition: { version: '3.4.0', ...(isRecord(sections.ignition) ? sections.ignition : {}) },
      });
    t.same(mergeConfigs(full(parent), full(child)), full(merged));
  });
}

function config(sections: Record<string, unknown>, version = '3.2.0'): IgnitionConfig {
  return configSchema.parse({ ignition: { version }, ...sections });
}

for (const { name, parent, child, merged } of CASES) {
  t.test(name, async (t) => {
    t.same(mergeConfigs(config(parent), config(child)), config(merged));
  });
  t.test(
    `Ignition agrees: ${name}`,
    { skip: !existsSync(IGNITION) && 'not installed' },
    async (t) => {
      const result = await mergedByIgnition(t.testdir(), config(parent), config(child));
      t.same(withoutAbsent({ ...result, ignition: {} }), withoutAbsent(merged));
    },
  );
}

t.test('there is one entry per path, whatever its kind', async (t) => {
  const kinds = ['files', 'directories', 'links'] as const;
  for (const before of kinds) {
    for (const after of kinds) {
      const one = (kind: string) => config({ storage: { [kind]: [{ path: '/p' }] } });
      const { storage = {} } = mergeConfigs(one(before), one(after));
      t.same(
        kinds.flatMap((kind) => (storage[kind] ?? []).map(() => kind)),
        [after],
        `${before}, ${after}`,
      );
    }
  }
});

t.test('the higher version and unknown fields are kept', async (t) => {
  const merged = mergeConfigs(
    config({ own: 1 }, '3.2.0'),
    config({ foreign: { x: [1] } }, '3.4.0'),
  );
  t.same(merged, { ignition: { version: '3.4.0' }, own: 1, foreign: { x: [1] } });
  t.equal(mergeConfigs(config({}, '3.3.0'), config({})).ignition.version, '3.3.0');
});

/** Ignition's cache after it has fetched a config that merges another one. */
async function mergedByIgnition(
  folder: string,
  parent: IgnitionConfig,
  child: IgnitionConfig,
): Promise<Record<string, unknown>> {
  const cache = join(folder, 'cache.json');
  const input = join(folder, 'in.ign');
  const merge = [dataUrl(JSON.stringify(child))];
  await writeFile(
    input,
    JSON.stringify({ ...parent, ignition: { version: '3.2.0', config: { merge } } }),
  );
  for (const stage of ['fetch-offline', 'fetch']) {
    const state = ['-config-cache', cache, '-state-file', join(folder, 'state')];
    const root = ['-root', folder, '-neednet', join(folder, 'neednet'), '-log-to-stdout'];
    await execa(IGNITION, ['-stage', stage, '-platform', 'file', ...state, ...root], {
      env: { IGNITION_CONFIG_FILE: input },
      timeout: 20_000,
    });
  }
  const result: unknown = JSON.parse(await readFile(cache, 'utf8'));
  return isRecord(result) ? result : {};
}

/** Ignition's cache contains all fields, including unset ones. */
function withoutAbsent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAbsent);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]): [string, unknown] => [key, withoutAbsent(item)])
      .filter(([, item]) => item !== null && !(isRecord(item) && Object.keys(item).length === 0)),
  );
}
