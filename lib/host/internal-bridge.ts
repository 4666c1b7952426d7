/**
 * Holds the internal address of a relocatable node. A bridge without ports, since not every kernel has dummy
 * interfaces; nobody else's traffic ever passes it.
 */
export const BRIDGE = 'br-node';
