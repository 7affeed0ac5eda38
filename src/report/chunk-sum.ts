/** Chunks, and the bytes that they take as they are stored. */
export interface ChunkSum {
  chunks: number;
  bytes: number;
}
