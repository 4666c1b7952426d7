import t from 'tap';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { groupOf } from '../../../lib/clients/kube/kind-name.ts';
import { builtInCollections } from '../../../lib/clients/rights/collections.ts';
import { rendered } from './rendered-host.ts';

const ruleSchema = z.object({
  apiGroups: z.array(z.string()).default([]),
  resources: z.array(z.string()).default([]),
  nonResourceURLs: z.array(z.string()).default([]),
  verbs: z.array(z.string()),
});
const manifest = rendered.manifests.find(({ name }) => name === '10-gather.yaml')?.contents ?? '';
const [role, binding] = parseAllDocuments(manifest).map((document) => document.toJS());
const { rules } = z.object({ rules: z.array(ruleSchema) }).parse(role);

t.test('gathering may read what a bundle contains', async (t) => {
  t.match(role, { kind: 'ClusterRole', metadata: { name: 'sno-agents:gather' } });
  t.match(binding, {
    kind: 'ClusterRoleBinding',
    roleRef: { kind: 'ClusterRole', name: 'sno-agents:gather' },
    subjects: [{ kind: 'Group', name: 'sno-agents:gather' }],
  });
  for (const { verbs } of rules) {
    t.ok(verbs.every((verb) => verb === 'get' || verb === 'list'));
  }
  for (const { apiVersion, plural } of builtInCollections) {
    const isGranted = rules.some(
      ({ apiGroups, resources, verbs }) =>
        apiGroups.includes(groupOf(apiVersion)) &&
        resources.includes(plural) &&
        verbs.includes('list'),
    );
    t.ok(isGranted, plural);
  }
});

t.test('gathering has no access to Secrets or to commands in containers', async (t) => {
  const granted = rules.flatMap(({ resources }) => resources);
  t.notMatch(granted.join(' '), /secrets|\/(proxy|exec|attach|portforward|token)/);
  for (const { apiGroups, resources } of rules) {
    t.notOk(apiGroups.includes('*'));
    if (resources.includes('*')) t.notMatch(apiGroups.join(' '), /^$|k8s\.io/);
  }
});
