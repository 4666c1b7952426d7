import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { requiredBinaries, requiredImages, usedPlugins } from '../../../lib/payload/required.ts';
import { rendered, textAt } from '../render/rendered-host.ts';

const root = join(import.meta.dirname, '../../..');

t.test('a payload must contain the image of each static pod and the sandbox image', async (t) => {
  const components = rendered.staticPods.map(({ component }) => component);
  t.strictSame([...requiredImages].toSorted(), [...components, 'pause'].toSorted());
});

t.test('a payload must contain the programs of the units, and etcdutl', async (t) => {
  for (const unit of ['live', 'installed']) {
    const text = await readFile(join(root, 'units', unit, 'kubelet.service'), 'utf8');
    const program = /^ExecStart=\/var\/lib\/sno-agents\/bin\/(\S+)/m.exec(text)?.[1];
    t.ok(
      requiredBinaries.some((name) => name === program),
      `${program} of ${unit}`,
    );
  }
  t.strictSame([...requiredBinaries].toSorted(), ['etcdutl', 'kubelet']);
});

t.test('the plugins are those in the network configuration, and loopback', async (t) => {
  const types = [...textAt('/etc/cni/net.d/10-sno.conflist').matchAll(/"type": "([^"]+)"/g)];
  const called = types.map(([, type = '']) => type);
  t.strictSame([...usedPlugins].toSorted(), [...called, 'loopback'].toSorted());
});
