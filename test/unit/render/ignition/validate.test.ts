import t from 'tap';
import { dataUrl } from '../../../../lib/render/ignition/data-url.ts';
import { validateConfigText } from '../../../../lib/render/ignition/validate.ts';

const KEY = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n';
const KUBECONFIG = `client-key-data: ${Buffer.from(KEY).toString('base64')}\n`;
const node = (path: string, more: object = {}) => ({ path, ...more });
const good = (path: string, contents = 'x', mode: number | undefined = 0o600) =>
  node(path, { mode, contents: dataUrl(contents) });

function config(sections: object, ignition: object = {}): string {
  return JSON.stringify({ ignition: { version: '3.2.0', ...ignition }, ...sections });
}

const merging = (child: string) => ({ config: { merge: [dataUrl(child)] } });

const CASES: readonly {
  name: string;
  text: string;
  limitBytes?: number;
  faults: readonly string[];
}[] = [
  {
    name: 'nothing wrong',
    text: config({
      storage: { files: [good('/etc/a', KEY), good('/etc/b')], directories: [node('/etc/c')] },
    }),
    faults: [],
  },
  { name: 'no text', text: '', faults: ['(file) is empty'] },
  { name: 'not JSON', text: '{', faults: ['(file) is not JSON: a missing } at character 2'] },
  {
    name: 'schema',
    text: config({
      storage: {
        files: [node('etc/a'), node('/etc/../b'), node('/c', { mode: -1 })],
        links: [node('/l', { target: '' })],
      },
      systemd: { units: [{ name: 'a' }] },
    }),
    faults: [
      'storage.files[0].path is not a clean absolute path',
      'storage.files[1].path is not a clean absolute path',
      'storage.files[2].mode expected a number, at least 0',
      'storage.links[0].target is empty',
      'systemd.units[0].name is not a systemd unit name',
    ],
  },
  {
    name: 'the same path as file, directory and file',
    text: config({
      storage: { files: [good('/etc/a'), good('/etc/a')], directories: [node('/etc/a')] },
    }),
    faults: ['/etc/a is defined more than once'],
  },
  {
    name: 'the same unit and drop-in twice',
    text: config({
      systemd: {
        units: [
          { name: 'a.service' },
          { name: 'a.service', dropins: [{ name: '1.conf' }, { name: '1.conf' }] },
        ],
      },
    }),
    faults: ['a.service is defined more than once', 'a.service.d/1.conf is defined more than once'],
  },
  {
    name: 'hash of other bytes',
    text: config({
      storage: { files: [node('/etc/a', { contents: { ...dataUrl('x'), source: 'data:,y' } })] },
    }),
    faults: ['/etc/a has a verification.hash that does not match its contents'],
  },
  {
    name: 'contents that are not base64',
    text: config({
      storage: { files: [node('/etc/a', { contents: { source: 'data:;base64,%%%' } })] },
    }),
    faults: [
      '/etc/a has contents that cannot be read: A source cannot be decoded: it has an invalid percent escape',
    ],
  },
  {
    name: 'overwrite without contents',
    text: config({ storage: { files: [node('/etc/a', { overwrite: true })] } }),
    faults: ['/etc/a has overwrite but no contents'],
  },
  {
    name: 'private keys that others read',
    text: config({
      storage: {
        files: [
          good('/a', KEY, 0o644),
          good('/b', KUBECONFIG, 0o640),
          good('/c', KEY, 0o400),
          node('/d', { contents: dataUrl(KEY.repeat(99)) }),
        ],
      },
    }),
    faults: [
      '/a contains a private key: expected mode 0600, found 0644',
      '/b contains a private key: expected mode 0600, found 0640',
      '/d contains a private key: expected mode 0600, found none',
    ],
  },
  {
    name: 'below a link and below a file',
    text: config({
      storage: {
        files: [good('/l/x/a'), good('/f'), good('/f/b')],
        links: [node('/l', { target: '/m' })],
      },
    }),
    faults: ['/l/x/a is below /l, which is a link', '/f/b is below /f, which is a file'],
  },
  {
    name: 'too large',
    text: config({
      storage: { files: [node('/a', { contents: { source: `data:,${'x'.repeat(200)}` } })] },
    }),
    limitBytes: 200,
    faults: ['(file) has 299 bytes, and only 200 fit'],
  },
  {
    name: 'inside of a merged config',
    text: config(
      { storage: { links: [node('/l', { target: '/m' })] } },
      merging(config({ storage: { files: [good('/l/a', KEY, 0o644)] } })),
    ),
    faults: [
      'ignition.config.merge[0]: /l/a contains a private key: expected mode 0600, found 0644',
      '/l/a is below /l, which is a link',
    ],
  },
  {
    name: 'a merged config that is none',
    text: config({}, merging('{}')),
    faults: ['ignition.config.merge[0]: ignition expected a mapping, found nothing'],
  },
  {
    name: 'a remote config that a merged one names',
    text: config({}, merging(config({}, { config: { merge: [{ source: 'https://x/y' }] } }))),
    faults: [
      'ignition.config.merge[0]: ignition.config.merge[0] references a remote config, whose contents are unknown',
    ],
  },
  {
    name: 'a merged config with the hash of another',
    text: config({}, { config: { merge: [{ ...dataUrl(config({})), source: 'data:,{}' }] } }),
    faults: ['ignition.config.merge[0]: verification.hash does not match the contents'],
  },
  {
    name: 'a merged config that cannot be decoded',
    text: config({}, { config: { merge: [{ source: 'data:;base64,%%%' }] } }),
    faults: [
      'ignition.config.merge[0]: source A source cannot be decoded: it has an invalid percent escape',
    ],
  },
  {
    name: 'inside of a config that replaces this one',
    text: config(
      { storage: { files: [good('/f'), good('/f/b')] } },
      {
        config: {
          replace: dataUrl(
            config({
              storage: {
                links: [node('/a/b', { target: '/x' }), node('/a/b/c', { target: '/y' })],
              },
            }),
          ),
        },
      },
    ),
    faults: ['/a/b/c is below /a/b, which is a link'],
  },
  {
    name: 'a config that should replace this one and is not known',
    text: config(
      { storage: { files: [good('/f'), good('/f/b')] } },
      { config: { merge: [{ source: 'data:,not-read' }], replace: { source: 'https://x/y' } } },
    ),
    faults: [
      'ignition.config.replace references a remote config, whose contents are unknown',
      '/f/b is below /f, which is a file',
    ],
  },
  {
    name: 'a reference without a source',
    text: config({}, { config: { merge: [{}], replace: {} } }),
    faults: ['ignition.config.merge[0] references a remote config, whose contents are unknown'],
  },
  {
    name: 'what is appended',
    text: config({
      storage: {
        files: [
          node('/a', { mode: 0o644, append: [dataUrl('x'), dataUrl(KEY)] }),
          node('/b', { append: [{ ...dataUrl('x'), source: 'data:,y' }] }),
        ],
      },
    }),
    faults: [
      '/a contains a private key: expected mode 0600, found 0644',
      '/b has a verification.hash that does not match its contents',
    ],
  },
  {
    name: 'links and directories given twice',
    text: config({
      storage: {
        links: [node('/l', { target: '/x' }), node('/l', { target: '/y' })],
        directories: [node('/d'), node('/d')],
      },
    }),
    faults: ['/d is defined more than once', '/l is defined more than once'],
  },
  {
    name: 'a directory below a link',
    text: config({
      storage: { links: [node('/l', { target: '/m' })], directories: [node('/l/d')] },
    }),
    faults: ['/l/d is below /l, which is a link'],
  },
  {
    name: 'size in bytes, not in characters',
    text: config({
      storage: { files: [node('/a', { contents: { source: `data:,${'é'.repeat(50)}` } })] },
    }),
    limitBytes: 170,
    faults: ['(file) has 199 bytes, and only 170 fit'],
  },
  {
    name: 'a size that just fits',
    text: config({ storage: { files: [node('/a', { contents: { source: 'data:,x' } })] } }),
    limitBytes: 100,
    faults: [],
  },
  {
    name: 'a remote config',
    text: config({}, { config: { merge: [{ source: 'https://x/y' }] } }),
    faults: ['ignition.config.merge[0] references a remote config, whose contents are unknown'],
  },
];

for (const { name, text, limitBytes, faults } of CASES) {
  t.test(name, async (t) => {
    const found = validateConfigText(text, limitBytes === undefined ? {} : { limitBytes });
    t.same(
      found.map(({ at, problem }) => `${at} ${problem}`),
      faults,
    );
  });
}
