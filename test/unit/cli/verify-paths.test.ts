import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sno } from './run-sno.ts';

t.test(
  'what is no file to be verified is a fault of usage, and nothing of it is read',
  async (t) => {
    const dir = t.testdir({ file: 'x', empty: {} });
    const at = (name: string) => join(dir, name);
    execFileSync('mkfifo', [at('fifo')]);
    symlinkSync('loop', at('loop'));
    writeFileSync(at('large'), '');
    truncateSync(at('large'), 8 * 2 ** 30);
    mkdirSync(at('update'));
    execFileSync('mkfifo', [join(at('update'), 'update.json')]);
    const key = ['--ssh-key', at('file')];
    const rows: [string, string[], RegExp][] = [
      ['a missing update', ['update', at('none'), ...key], /none\/update\.json cannot be read/],
      ['an update that is a file', ['update', at('file'), ...key], /update\.json cannot be read/],
      ['an update without its manifest', ['update', at('empty'), ...key], /cannot be read/],
      ['a manifest that is a FIFO', ['update', at('update'), ...key], /found a FIFO/],
      ['a missing volume', ['site-volume', at('none')], /The volume .*none cannot be read/],
      ['a volume behind a file', ['site-volume', at('file/x')], /The volume .* cannot be read/],
      ['a circle of links', ['site-volume', at('loop')], /The volume .*loop cannot be read/],
      ['a volume that is a FIFO', ['site-volume', at('fifo')], /found a FIFO/],
      ['a key of 8 GiB', ['site-volume', dir, '--ssh-key', at('large')], /large is too large/],
      ['an identity of 8 GiB', ['site-volume', dir, '--identity', at('large')], /too large/],
      ['facts of 8 GiB', ['site-config', at('file'), '--host-facts', at('large')], /too large/],
      ['a folder as a key', ['site-volume', dir, '--ssh-key', dir], /found a folder/],
    ];
    for (const [name, args, err] of rows) {
      t.match(await sno(['verify', ...args]), { code: 2, err }, name);
    }
  },
);
