import t from 'tap';
import { hasSandboxImage } from '../../../lib/payload/images.ts';
import { sandboxImageIn, startOf } from '../../../lib/payload/sandbox-image.ts';

t.test('the program of a unit, and its configuration', async (t) => {
  const show = (argv: string) =>
    `{ path=/usr/bin/containerd ; argv[]=${argv} ; ignore_errors=no ; start_time=[n/a] ; pid=0 }\n`;
  const program = '/usr/bin/containerd';
  for (const [argv, options] of [
    [program, []],
    [`${program} --config /etc/c.toml --log-level info`, ['--config', '/etc/c.toml']],
    [`${program} --log-level=info -c /etc/c.toml`, ['-c', '/etc/c.toml']],
    [`${program} --config=/etc/c.toml`, ['--config=/etc/c.toml']],
  ] as const) {
    t.strictSame(startOf(show(argv)), { program, options }, argv);
  }
  t.strictSame(startOf(''), { program: 'containerd', options: [] });
});

t.test('only the image of sandboxes counts', async (t) => {
  const images = (more: string) => `version = 3

[plugins]
  [plugins.'io.containerd.cri.v1.images']
    snapshotter = 'overlayfs'

    [plugins.'io.containerd.cri.v1.images'.pinned_images]
${more}
    [plugins.'io.containerd.cri.v1.images'.registry]
      config_path = ''
      sandbox = 'another/table:1'
`;
  t.equal(sandboxImageIn(images("      sandbox = 'r/pause:3'\n")), 'r/pause:3');
  t.equal(
    sandboxImageIn(images('      other = \'x\'\n      sandbox = "r/pause:3"\n')),
    'r/pause:3',
  );
  t.equal(sandboxImageIn(images('')), undefined);
  t.equal(sandboxImageIn('    sandbox_image = "r/pause:2"\n    x = 1\n'), 'r/pause:2');
});

t.test('a runtime that an update brought wants another name', async (t) => {
  const named = { 'r/pause:3': 'sha256:a', 'r/etcd:1': 'sha256:b' };
  const images = [
    { name: 'pause', id: 'sha256:a' },
    { name: 'etcd', id: 'sha256:b' },
  ];
  const limits = { signal: AbortSignal.timeout(60_000), deadlineMs: 60_000 };
  const has = (wanted: string | undefined, of = images) =>
    hasSandboxImage(
      of,
      {
        sandboxImage: async () => wanted,
        find: async (reference) => {
          const id = Object.entries(named).find(([name]) => name === reference)?.[1];
          return id === undefined ? undefined : { id, pinned: true };
        },
      },
      limits,
    );
  t.equal(await has('r/pause:3'), true);
  t.equal(await has('r/pause:4'), false);
  t.equal(await has('r/etcd:1'), false, 'the name of another image');
  t.equal(await has(undefined), true, 'it needs none, or is not known');
  t.equal(await has('r/pause:4', images.slice(1)), true, 'a payload without one');
});
