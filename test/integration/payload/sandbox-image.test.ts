/** Which image pod sandboxes have, by the real containerd of two series. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Component, ensureComponent } from '../../../lab/components/component.ts';
import { containerd, debianContainerd } from '../../../lab/components/containerd.ts';
import { configuredSandboxImage } from '../../../lib/payload/sandbox-image.ts';

const signal = AbortSignal.timeout(25 * 60_000);
const limits = { signal, deadlineMs: 60_000 };
const OLD =
  'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\n  sandbox_image = "r.test/pause:7"\n';
const NEW =
  'version = 3\n[plugins."io.containerd.cri.v1.images".pinned_images]\n  sandbox = "r.test/pause:7"\n';

/** A host whose unit starts a program with a configuration. Returns what is found, and what was warned of. */
async function found(folder: string, program: string, configuration: string) {
  const path = join(folder, 'config.toml');
  writeFileSync(path, configuration);
  const line = `{ path=${program} ; argv[]=${program} --config ${path} ; ignore_errors=no ; pid=0 }`;
  writeFileSync(join(folder, 'systemctl'), `#!/bin/sh\necho '${line}'\n`);
  chmodSync(join(folder, 'systemctl'), 0o755);
  const before = process.env.PATH;
  process.env.PATH = `${folder}:${before}`;
  const warned: string[] = [];
  try {
    return { image: await configuredSandboxImage(limits, (text) => warned.push(text)), warned };
  } finally {
    process.env.PATH = before;
  }
}

const SERIES: readonly (readonly [Component, string, string])[] = [
  [containerd, OLD, 'r.test/pause:7'],
  [containerd, NEW, 'r.test/pause:7'],
  [containerd, 'version = 2\n', 'registry.k8s.io/pause:3.10.2'],
  [debianContainerd, OLD, 'r.test/pause:7'],
];
for (const [component, configuration, image] of SERIES) {
  t.test(`${component.name} with ${JSON.stringify(configuration)}`, async (t) => {
    const folder = await ensureComponent(component, { signal, report: () => undefined });
    const program = join(folder, 'containerd');
    t.strictSame(await found(t.testdir(), program, configuration), { image, warned: [] });
  });
}

t.test('where nobody says it, that is said', async (t) => {
  const none = await found(t.testdir(), '/bin/true', OLD);
  t.match(none, { image: undefined, warned: [/must be that of the payload.*names no image/] });
  const failed = await found(t.testdir(), '/bin/false', OLD);
  t.match(failed, { image: undefined, warned: [/must be that of the payload.*exit code 1/] });
});
