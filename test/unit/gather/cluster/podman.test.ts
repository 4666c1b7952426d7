import { chmodSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import t, { type Test } from 'tap';
import { podmanSources } from '../../../../agents/gather/sources/podman.ts';
import { read, testHost } from './host.ts';

const { signal } = new AbortController();
const PATH = process.env.PATH ?? '';

function usePath(t: Pick<Test, 'teardown'>, path: string): void {
  process.env.PATH = path;
  t.teardown(() => {
    process.env.PATH = PATH;
  });
}

/** A host with this script as podman, before all others in PATH. */
function withPodman(t: Test, script: string) {
  const made = testHost(t, 'live');
  const program = made.write('/bin/podman', `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  usePath(t, `${dirname(program)}${delimiter}${PATH}`);
  return made;
}

t.test('a host without podman', async (t) => {
  const { host, root } = testHost(t, 'live');
  usePath(t, root);
  t.strictSame(await podmanSources(host, signal), []);
});

t.test('containers run by podman', async (t) => {
  const { host } = withPodman(
    t,
    `case "$1 $2" in
      ps*) echo '[{"Id": "abc", "Names": ["etcd-render"]}, {"Id": "def", "Names": null}]' ;;
      'container inspect') echo "[{\\"Id\\": \\"$3\\"}]" ;;
      logs*) echo "out of $3"; echo "err of $3" >&2 ;;
    esac`,
  );
  const sources = await podmanSources(host, signal);
  const texts = new Map<string, string>();
  for (const source of sources) texts.set(source.path, (await read(source, host)).text);
  t.strictSame([...texts.keys()].toSorted(), [
    'bootstrap/pods/container-def.inspect',
    'bootstrap/pods/container-def.log',
    'bootstrap/pods/etcd-render-abc.inspect',
    'bootstrap/pods/etcd-render-abc.log',
    'bootstrap/pods/podman.json',
  ]);
  t.equal(texts.get('bootstrap/pods/etcd-render-abc.inspect'), '[{"Id": "abc"}]\n');
  const log = texts.get('bootstrap/pods/etcd-render-abc.log')?.split('\n').toSorted();
  t.strictSame(log, ['', 'err of abc', 'out of abc'], 'both streams');
});

t.test('a podman that fails, or prints no list, is reported as the reason', async (t) => {
  for (const [script, failure] of [
    ['echo no luck >&2; exit 125', /podman failed.*no luck/],
    ['echo hello', /JSON/],
  ] as const) {
    const { host } = withPodman(t, script);
    const sources = await podmanSources(host, signal);
    t.equal(sources.length, 1);
    for (const source of sources) t.match(await read(source, host), { failure });
  }
});
