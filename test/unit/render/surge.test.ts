import t from 'tap';
import { parse } from 'yaml';
import { z } from 'zod';
import { surgePod } from '../../../lib/render/kubernetes/surge-pod.ts';
import { noSurgeRedirect, surgeRedirect } from '../../../lib/render/kubernetes/surge-redirect.ts';
import { rendered } from './rendered-host.ts';

const probe = z.object({ httpGet: z.object({ host: z.string(), port: z.number() }) });
const podSchema = z.object({
  metadata: z.object({ name: z.string(), labels: z.record(z.string(), z.string()) }),
  spec: z.object({
    containers: z.tuple([
      z.object({
        name: z.string(),
        image: z.string(),
        command: z.array(z.string()),
        startupProbe: probe,
        livenessProbe: probe,
        readinessProbe: probe,
      }),
    ]),
  }),
});

function partsOf(manifest: string) {
  const { metadata, spec } = podSchema.parse(parse(manifest));
  const [container] = spec.containers;
  return { metadata, container };
}

const manifest =
  rendered.staticPods.find(({ component }) => component === 'kube-apiserver')?.manifest ?? '';

t.test(
  'the second API server differs from the first one only in what both cannot have',
  async (t) => {
    const first = partsOf(manifest);
    const surge = surgePod(manifest);
    const second = partsOf(surge.manifest);
    t.equal(surge.file, 'kube-apiserver-surge.yaml');
    t.equal(second.metadata.name, surge.component);
    t.equal(second.container.name, surge.component, 'the runtime tells the containers apart by it');
    t.equal(second.metadata.labels.tier, 'control-plane');
    t.not(second.metadata.labels.component, first.metadata.labels.component);
    t.equal(second.container.image, first.container.image);
    const own = second.container.command.filter((flag) => !first.container.command.includes(flag));
    t.same(own.toSorted(), [
      '--audit-log-maxbackup=1',
      '--audit-log-path=/var/log/kube-apiserver/audit-surge.log',
      '--endpoint-reconciler-type=none',
      '--secure-port=6444',
    ]);
    const names = second.container.command.map((flag) => flag.split('=')[0]);
    t.equal(new Set(names).size, names.length, 'each flag once');
    const { startupProbe, livenessProbe, readinessProbe } = second.container;
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      t.equal(httpGet.port, 6444);
    }
    t.equal(surgePod(manifest).manifest, surge.manifest, 'the same for the same manifest');
  },
);

t.test('of anything else no second one is made', async (t) => {
  for (const other of ['', 'kind: Pod', manifest.replaceAll('6443', '8443')]) {
    t.throws(() => surgePod(other), { kind: 'fatal', message: /no second API server/ });
  }
});

t.test(
  'the redirection takes the host, its Services and what must not be redirected into account',
  async (t) => {
    const rules = surgeRedirect({ serviceNetwork: ['172.30.0.0/16', 'fd02::/112'] });
    const [outside = '', host = ''] = rules.split('chain from-host');
    for (const chain of [outside, host]) {
      t.match(chain, 'ip daddr 172.30.0.1 tcp dport 443 redirect to :6444');
      t.match(chain, 'ip6 daddr fd02::1 tcp dport 443 redirect to :6444');
      t.match(chain, 'fib daddr type local tcp dport 6443 redirect to :6444');
    }
    t.match(host, /127\.0\.0\.2 return\n.*::1 return\n.*redirect/s);
    t.notMatch(outside, 'return');
    t.ok(rules.startsWith(noSurgeRedirect), 'replaces rules that are left');
  },
);
