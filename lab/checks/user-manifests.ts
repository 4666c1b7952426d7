import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A user's objects: applied in the live stage, checked on the installed cluster. */
export const USER_NAMESPACE = 'shop';
export const USER_CONFIG_MAP = 'prices';
export const USER_DEFINITION = 'tills.shop.example.test';
/** Its kind is only defined after the installation. */
export const DEFERRED = { group: 'loyalty.example.test', kind: 'Card', name: 'gold' } as const;

const manifests: Readonly<Record<string, string>> = {
  // The resource comes before its definition, and the namespace last: users need not order manifests.
  'manifests/10-till.yaml': `apiVersion: shop.example.test/v1
kind: Till
metadata:
  name: front
  namespace: ${USER_NAMESPACE}
spec:
  drawers: 2
`,
  'manifests/20-definition.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${USER_DEFINITION}
spec:
  group: shop.example.test
  scope: Namespaced
  names: { kind: Till, plural: tills, singular: till }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                drawers: { type: integer }
`,
  'openshift/30-shop.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${USER_CONFIG_MAP}
  namespace: ${USER_NAMESPACE}
data:
  bread: "3.10"
---
apiVersion: v1
kind: Namespace
metadata:
  name: ${USER_NAMESPACE}
---
apiVersion: ${DEFERRED.group}/v1
kind: ${DEFERRED.kind}
metadata:
  name: ${DEFERRED.name}
  namespace: ${USER_NAMESPACE}
spec:
  points: 7
`,
};

/** Writes the manifests, and others if given, beside install-config.yaml. */
export async function writeUserManifests(
  folder: string,
  others: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const [path, contents] of Object.entries({ ...manifests, ...others })) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), contents);
  }
}
