import { writeGoYaml } from '../../base/go-yaml/write.ts';
import type { RenderedFile } from '../renderer.ts';
import { publicFile } from './files.ts';
import { paths } from './paths.ts';

export const authenticationConfigPath = `${paths.configOf('kube-apiserver')}/authentication.yaml`;

/**
 * Anonymous requests are allowed on the three health paths only. The flag
 * --anonymous-auth must not be given in addition.
 */
export function authenticationFile(): RenderedFile {
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [],
    anonymous: {
      enabled: true,
      conditions: ['/livez', '/readyz', '/healthz'].map((path) => ({ path })),
    },
  };
  return publicFile(authenticationConfigPath, writeGoYaml(configuration));
}
