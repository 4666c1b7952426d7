/** What a person answers; a field without an answer stays a placeholder, or is left out. */
export interface TemplateAnswers {
  readonly baseDomain?: string | undefined;
  readonly name?: string | undefined;
  readonly disk?: string | undefined;
  readonly hostname?: string | undefined;
  readonly machineNetwork?: string | undefined;
  readonly sshKey?: string | undefined;
  readonly pullSecret?: string | undefined;
}

/** `single-node`: a live medium writes its disk. `all-in-one`: it runs from the disk that it boots from. */
export type HostKind = 'single-node' | 'all-in-one';

/** No registry accepts it; nothing is pulled with a payload. */
const NO_LOGIN = '{"auths":{"none":{"auth":"bm9uZTpub25lCg=="}}}';

/** JSON is YAML, in which no answer means something else than its text. */
const value = (answer: string | undefined, placeholder: string) =>
  answer === undefined ? `<${placeholder}>` : JSON.stringify(answer);

/** A line that is a comment unless there is an answer. */
const optionalLine = (indent: string, name: string, answer: string | undefined, example: string) =>
  answer === undefined
    ? `${indent}#${name}: ${example}`
    : `${indent}${name}: ${JSON.stringify(answer)}`;

/**
 * A complete install-config.yaml with comments. A sentence begins with "# "; without the "#", every other comment is a
 * valid field.
 */
export function installConfigTemplate(kind: HostKind, answers: TemplateAnswers = {}): string {
  const { baseDomain, name, disk, hostname, machineNetwork, sshKey, pullSecret } = answers;
  const network = machineNetwork === undefined ? '#' : '';
  const ofDisk = `  # The disk of the host that the system is written to: everything on it is lost. On the live
  # host, "ls -l /dev/disk/by-id" lists the names that stay the same at every start.
  installationDisk: ${value(disk, 'disk')}
  # overwrite: another operating system on the disk may be destroyed.
  #existingSystem: refuse
  #kernelArguments: ["console=ttyS0,115200n8"]
  # Partitions of the disk to keep.
  #savePartitions: {labels: ["data*"]}
`;
  return `# install-config.yaml of one host with a cluster of its own.
# Replace each <...>, remove the "#" before the fields that you need, then check it with
# "sno verify install-config --dir DIR".
# "sno explain install-config.FIELD" says what a field takes. Indentation counts.
apiVersion: v1

# The cluster is NAME.DOMAIN. DNS of the site has api.NAME.DOMAIN, api-int.NAME.DOMAIN and
# *.apps.NAME.DOMAIN with the address of the host; an all-in-one host needs none of them itself.
baseDomain: ${value(baseDomain, 'domain')}
metadata:
  name: ${value(name, 'name')}

# One control-plane node. Workers are 0, or the number that is installed with it.
compute:
  - name: worker
    replicas: 0
controlPlane:
  name: master
  replicas: 1
  #architecture: amd64
platform:
  none: {}

# Networks. They must not overlap with each other, nor with other networks of the site.
${network}networking:
  # The network of the host's address, where it has several.
  ${network}machineNetwork:
    ${network}- cidr: ${machineNetwork === undefined ? '192.168.7.0/24' : JSON.stringify(machineNetwork)}
  # Addresses of pods, and how many each node has.
  #clusterNetwork:
  #  - cidr: 10.128.0.0/14
  #    hostPrefix: 23
  # Addresses of Services.
  #serviceNetwork: [172.30.0.0/16]

bootstrapInPlace:
${kind === 'single-node' ? ofDisk : ''}  # The name of the host. Without it, DHCP or DNS has to provide one.
${optionalLine('  ', 'hostname', hostname, 'sno.example.com')}
  # CPUs of the node itself; the others remain for workloads.
  #reservedCPUs: 0-1
  #additionalNTPSources: [ntp.example.com]
  # Without DHCP: the network of the host as an nmstate document (https://nmstate.io).
  #networkConfig:
  #  interfaces:
  #    - name: eno1
  #      type: ethernet
  #      state: up
  #      ipv4: {enabled: true, dhcp: false, address: [{ip: 192.168.7.10, prefix-length: 24}]}
  #  routes:
  #    config:
  #      - {destination: 0.0.0.0/0, next-hop-address: 192.168.7.1, next-hop-interface: eno1}
  #  dns-resolver:
  #    config: {server: [192.168.7.1]}

# How the host reaches the outside.
#proxy:
#  httpProxy: http://proxy.example.com:3128
#  httpsProxy: http://proxy.example.com:3128
#  noProxy: .example.com

# Mirrors of images that your workloads name by digest.
#imageDigestSources:
#  - source: quay.io/example
#    mirrors: [registry.example.com:5000/example]

# Logins of registries, as one line of JSON. The control plane is in the payload: this one pulls
# nothing.
pullSecret: ${JSON.stringify(pullSecret ?? NO_LOGIN)}

# Who may log in as core, and sign updates: a public key, such as the line in
# ~/.ssh/id_ed25519.pub. Its private key stays with you.
sshKey: ${value(sshKey, 'public-key')}
`;
}
