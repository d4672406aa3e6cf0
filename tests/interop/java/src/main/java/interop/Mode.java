package interop;

/** The three ways in which a processor hands changes over. */
enum Mode {
    /** {@code handleChanges}: bare documents, a lease for each physical range. */
    CLASSIC,
    /** {@code handleLatestVersionChanges}: the same changes in envelopes, a lease for each span of keys. */
    LATEST,
    /** {@code handleAllVersionsAndDeletesChanges}. */
    HISTORY;

    boolean history() {
        return this == HISTORY;
    }

    /** As it stands in the names of checks. */
    @Override
    public String toString() {
        return name().toLowerCase();
    }
}
