"""`python -m popef` is the tool `popef`, also where the folder of scripts is not on the path."""

from popef._tools import popef

if __name__ == "__main__":
    popef()
