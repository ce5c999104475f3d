"""From what users write to the store that they mean."""

from boolcast.matching.store import FolderStore, Place, Store, store_at


def open_store(place: Place) -> Store:
    """The store at a path; a store is itself."""
    store = store_at(place)
    # Absolute: tasks run elsewhere.
    return FolderStore(store.folder.absolute()) if isinstance(store, FolderStore) else store
