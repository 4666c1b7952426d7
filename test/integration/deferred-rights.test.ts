import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { deferredStatus, deferredUser } from '../../lib/clients/rights/deferred.ts';
import { grant, rbac, resource, until } from './deferred-host.ts';

const { signal } = new AbortController();
const limits = { signal, deadlineMs: 10_000 };
const controlPlane = await startControlPlane(join(t.testdir(), 'control-plane'), signal);
t.teardown(() => controlPlane.stop());
const admin = await controlPlane.client();
t.teardown(() => admin[Symbol.dispose]());

t.test(
  'its rights are limited to the groups of the deferred manifests and its own ConfigMap',
  async (t) => {
    const group = 'rights.test';
    await grant(admin, [group]);
    const client = await controlPlane.client({ name: deferredUser, groups: [] });
    t.teardown(() => client[Symbol.dispose]());
    const may = async (verb: string, apiGroup: string, plural: string, more: object = {}) => {
      const body = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: {
          resourceAttributes: {
            verb,
            group: apiGroup,
            resource: plural,
            namespace: 'default',
            ...more,
          },
        },
      };
      const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
      const review = z.looseObject({ status: z.looseObject({ allowed: z.boolean() }) });
      return review.parse(await client.json({ method: 'POST', path, body }, limits)).status.allowed;
    };
    const system = { namespace: 'kube-system' };
    const granted: [string, string, string, object?][] = [
      ['create', group, 'tills'],
      ['get', group, 'tills'],
      ['update', group, 'tills', { subresource: 'status' }],
      ['watch', 'apiextensions.k8s.io', 'customresourcedefinitions'],
      ['watch', 'apiregistration.k8s.io', 'apiservices'],
      ['update', '', 'configmaps', { ...system, name: deferredStatus.name }],
      ['delete', 'rbac.authorization.k8s.io', 'clusterroles', { name: deferredUser }],
    ];
    await until('the rights', () => may('create', group, 'tills'));
    for (const [verb, apiGroup, plural, more] of granted) {
      t.ok(await may(verb, apiGroup, plural, more), `${verb} ${plural}`);
    }
    const verbs = [
      'get',
      'list',
      'watch',
      'create',
      'update',
      'patch',
      'delete',
      'bind',
      'escalate',
    ];
    const forbidden = [
      ['', 'secrets'],
      ['', 'pods'],
      ['', 'nodes'],
      ['', 'configmaps'],
      ['', 'serviceaccounts'],
      ['apps', 'deployments'],
      ['rbac.authorization.k8s.io', 'clusterroles'],
      ['rbac.authorization.k8s.io', 'clusterrolebindings'],
      ['rbac.authorization.k8s.io', 'roles'],
      ['rbac.authorization.k8s.io', 'rolebindings'],
      ['admissionregistration.k8s.io', 'mutatingwebhookconfigurations'],
      ['certificates.k8s.io', 'certificatesigningrequests'],
      ['other.test', 'tills'],
    ] as const;
    for (const [apiGroup, plural] of forbidden) {
      for (const verb of verbs) {
        for (const more of [{}, system]) {
          t.notOk(await may(verb, apiGroup, plural, more), `${verb} ${plural} of "${apiGroup}"`);
        }
      }
    }
    for (const verb of ['list', 'update', 'patch', 'delete', 'deletecollection']) {
      t.notOk(await may(verb, group, 'tills'), `${verb} in its own group`);
    }
    t.notOk(await may('create', 'apiextensions.k8s.io', 'customresourcedefinitions'));
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } };
    const place = { namespace: 'default' };
    await t.rejects(client.create(resource('v1', 'secrets'), place, secret, limits), { code: 403 });
    await t.rejects(client.list(rbac('clusterroles'), {}, limits), { code: 403 });
  },
);
