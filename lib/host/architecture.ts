/** Processor architectures of hosts, as container images call them. */
export const architectures = ['amd64', 'arm64'] as const;
export type Architecture = (typeof architectures)[number];

const ofNode: Readonly<Record<string, Architecture>> = { x64: 'amd64', arm64: 'arm64' };

/** The architecture of this machine; undefined if it is not supported. */
export const hostArchitecture = (): Architecture | undefined => ofNode[process.arch];
